"""What people and Mendbot itself settled about issues and pull requests: which are paused, which issues belong
together, and which commits are Mendbot's own (T13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from bot.model import Repo
from bot.store.database.database import Database
from bot.store.database.sql import insert_new, of_thread, upsert
from bot.store.database.tables import paused_threads, pinned_issues, pushed_commits


class ThreadStore:
    """Each of these is known by repository and number, or commit; doing one again changes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def pause(self, repo: Repo, number: int, by: str, at_ms: int) -> None:
        """Leave this thread alone until it is resumed; paused again, the first pause stands."""
        row = {"repo": repo.full_name, "number": number, "paused_by": by, "at": at_ms}
        await self._keep(paused_threads, row)

    async def resume(self, repo: Repo, number: int) -> bool:
        """False if it was not paused."""
        query = sa.delete(paused_threads).where(of_thread(paused_threads, repo, number))
        return await self._database.change(query) > 0

    async def paused(self, repo: Repo, number: int) -> str | None:
        """Who paused it; None where nobody did."""
        query = sa.select(paused_threads.c.paused_by).where(of_thread(paused_threads, repo, number))
        return await self._database.value(query)

    async def pin(self, repo: Repo, issues: Sequence[int], together: str) -> None:
        """Let these issues belong together under that id, and to no other any more."""
        keys = [{"repo": repo.full_name, "issue": issue} for issue in sorted(set(issues))]

        def work(connection: sa.Connection) -> None:
            for key in keys:
                upsert(connection, pinned_issues, key, {"together": together})

        await self._database.write(work)

    async def pins(self, repo: Repo, issues: Sequence[int]) -> dict[int, str]:
        """Under which id each of these belongs with others; those that are not pinned are left out."""
        pinned = (pinned_issues.c.repo == repo.full_name) & pinned_issues.c.issue.in_(tuple(issues))
        query = sa.select(pinned_issues.c.issue, pinned_issues.c.together).where(pinned)
        return {row.issue: row.together for row in await self._database.all(query)}

    async def pushed(self, repo: Repo, sha: str, *, run_id: str, number: int | None, at_ms: int) -> None:
        """Note a commit that Mendbot pushed, to that pull request's branch where there is one; told again, the first
        stands."""
        row = {"repo": repo.full_name, "sha": sha, "run_id": run_id, "number": number, "at": at_ms}
        await self._keep(pushed_commits, row)

    async def pushed_by(self, repo: Repo, sha: str) -> str | None:
        """The run that pushed this commit; None where Mendbot did not."""
        where = (pushed_commits.c.repo == repo.full_name) & (pushed_commits.c.sha == sha)
        query = sa.select(pushed_commits.c.run_id).where(where)
        return await self._database.value(query)

    async def pushes_since(self, repo: Repo, number: int | None, since_ms: int) -> int:
        """How many commits Mendbot has pushed since then to a pull request's branch, with None to any pull request's of
        the repository; the branches that its runs made are not meant."""
        query = sa.select(sa.func.count()).select_from(pushed_commits)
        query = query.where(pushed_commits.c.repo == repo.full_name, pushed_commits.c.at >= since_ms)
        number_is = pushed_commits.c.number.is_not(None) if number is None else pushed_commits.c.number == number
        query = query.where(number_is)
        return await self._database.value(query) or 0

    async def _keep(self, table: sa.Table, row: Mapping[str, object]) -> None:
        await self._database.write(lambda connection: insert_new(connection, table, row))
