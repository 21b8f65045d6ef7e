"""Paused issues and pull requests, issues that are pinned to one group, and the commits that Mendbot pushed (T13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from bot.model import Repo
from bot.store.database.database import Database
from bot.store.database.sql import insert_new, of_thread, upsert
from bot.store.database.tables import paused_threads, pinned_issues, pushed_commits


class ThreadStore:
    """The keys are repository and number, or repository and commit. Repeating a call changes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def pause(self, repo: Repo, number: int, by: str, at_ms: int) -> None:
        """Pause a thread until it is resumed. An earlier pause is not changed."""
        row = {"repo": repo.full_name, "number": number, "paused_by": by, "at": at_ms}
        await self._insert(paused_threads, row)

    async def resume(self, repo: Repo, number: int) -> bool:
        """End the pause of a thread; returns False if it was not paused."""
        query = sa.delete(paused_threads).where(of_thread(paused_threads, repo, number))
        return await self._database.change(query) > 0

    async def paused(self, repo: Repo, number: int) -> str | None:
        """The login of the person who paused a thread; None if it is not paused."""
        query = sa.select(paused_threads.c.paused_by).where(of_thread(paused_threads, repo, number))
        return await self._database.value(query)

    async def paused_in(self, repo: Repo) -> tuple[tuple[int, str], ...]:
        """The paused threads of a repository: their numbers, in order, and who paused them."""
        query = sa.select(paused_threads.c.number, paused_threads.c.paused_by)
        query = query.where(paused_threads.c.repo == repo.full_name).order_by(paused_threads.c.number)
        return tuple((row.number, row.paused_by) for row in await self._database.all(query))

    async def pin(self, repo: Repo, issues: Sequence[int], together: str) -> None:
        """Pin these issues to the group with the id `together`, in place of an earlier one."""
        keys = [{"repo": repo.full_name, "issue": issue} for issue in sorted(set(issues))]

        def work(connection: sa.Connection) -> None:
            for key in keys:
                upsert(connection, pinned_issues, key, {"together": together})

        await self._database.write(work)

    async def pins(self, repo: Repo, issues: Sequence[int]) -> dict[int, str]:
        """The id of the group that each of these issues is pinned to; the others are not in the result."""
        pinned = (pinned_issues.c.repo == repo.full_name) & pinned_issues.c.issue.in_(tuple(issues))
        query = sa.select(pinned_issues.c.issue, pinned_issues.c.together).where(pinned)
        return {row.issue: row.together for row in await self._database.all(query)}

    async def pushed(self, repo: Repo, sha: str, *, run_id: str, number: int | None, at_ms: int) -> None:
        """Store a commit that Mendbot pushed, unless it is stored already. `number` is the pull request whose branch it
        was pushed to, if any."""
        row = {"repo": repo.full_name, "sha": sha, "run_id": run_id, "number": number, "at": at_ms}
        await self._insert(pushed_commits, row)

    async def pushed_by(self, repo: Repo, sha: str) -> str | None:
        """The id of the run that pushed this commit; None if Mendbot did not push it."""
        where = (pushed_commits.c.repo == repo.full_name) & (pushed_commits.c.sha == sha)
        query = sa.select(pushed_commits.c.run_id).where(where)
        return await self._database.value(query)

    async def pushes_since(self, repo: Repo, number: int | None, since_ms: int) -> int:
        """How many commits Mendbot has pushed since then to the branch of a pull request. Without a number, those for
        all pull requests of the repository count. Commits on branches that Mendbot created do not count."""
        query = sa.select(sa.func.count()).select_from(pushed_commits)
        query = query.where(pushed_commits.c.repo == repo.full_name, pushed_commits.c.at >= since_ms)
        number_is = pushed_commits.c.number.is_not(None) if number is None else pushed_commits.c.number == number
        return await self._database.value(query.where(number_is)) or 0

    async def _insert(self, table: sa.Table, row: Mapping[str, object]) -> None:
        await self._database.write(lambda connection: insert_new(connection, table, row))
