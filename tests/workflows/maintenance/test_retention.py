"""Once a day what is old goes, with all that it left on disk and in git; what is open or young stays as it was."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.model import Status
from bot.model.events.pull_checks import PullFinished
from bot.model.events.runs import SessionFinished
from bot.rules.pulls.check_spec import PullCheckSpec
from bot.store.database.database import now_ms
from bot.store.database.tables import pull_runs, runs
from bot.store.retention import rows
from bot.workflows.maintenance import cleanup as cleanup
from bot.workflows.maintenance.retention import forget_old, tidy_dependencies, tidy_mirrors
from bot.workflows.runs.finish import finish
from bot.workspace.checks.logs import directory, write_log
from bot.workspace.files.home_directories import own_entries
from bot.workspace.git.command import git
from tests.workflows.conftest import Harness
from tests.workflows.first_attempt import attempted

AtDesk = Callable[..., Any]
DAY = 24 * 3600 * 1000


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PAUSE_S", 0)
    monkeypatch.setattr(rows, "PAUSES", 0)


async def ended(at: Harness, run_id: str, *, days: int) -> None:
    """A run with an attempt that failed so many days ago, and of which GitHub was told."""
    row = await at.run(run_id, at.issue())
    await attempted(at, run_id)
    await finish(at.context, row, await at.state(run_id), Status.FAILED, None)
    await at.runs.hold_reports(run_id)
    then = now_ms() - days * DAY
    change = sa.update(runs).where(runs.c.id == run_id).values(created_at=then - 1, ended_at=then)
    await at.database.write(lambda connection: connection.execute(change) and None)


def aged(where: Path, days: int) -> None:
    then = now_ms() / 1000 - days * 86_400
    os.utime(where, (then, then))


async def refs(at: Harness, *prefixes: str) -> str:
    return (await git("for-each-ref", "--format=%(refname)", *prefixes, git_dir=at.context.mirror(at.repo))).decode()


def test_a_run_goes_with_its_refs_and_its_logs(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        await ended(at, "run-old", days=366)
        await ended(at, "run-new", days=364)
        home = at.context.settings.home
        for run_id in ("run-old", "run-new", "run-open", "nobody"):
            write_log(home, run_id, "a.log", b"x")
        await at.run("run-open", 77)
        for run_id in ("run-old", "run-open", "nobody"):
            aged(directory(home, run_id), 91)
        branches = await refs(at, "refs/heads")
        assert "refs/mendbot/runs/run-old/1" in await refs(at, "refs/mendbot") and branches.count("fix/issue-") == 2
        await forget_old(at.context, now_ms())
        assert [await at.runs.get(name) is not None for name in ("run-old", "run-new", "run-open")] == [
            False,
            True,
            True,
        ]
        kept = await refs(at, "refs/mendbot")
        assert "run-old" not in kept and "refs/mendbot/runs/run-new/1" in kept
        assert (await refs(at, "refs/heads")).count("fix/issue-") == 1
        assert [path.name for path in own_entries(home, "artifacts")] == ["run-new", "run-open"]
        await forget_old(at.context, now_ms())
        assert (await at.state("run-new")).finished is Status.FAILED

    at_desk(work)


def test_what_is_open_as_far_as_anybody_told_keeps_its_last_checks(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[str]:
        await ended(at, "run-1", days=1)  # so that there is a mirror
        pulls, mirror = at.context.stores.pulls, at.context.mirror(at.repo)
        head = (await git("rev-parse", "refs/remotes/origin/main", git_dir=mirror)).decode().strip()
        for number in (51, 52):
            spec = PullCheckSpec(repo=at.repo, number=number, head_sha=head, policy=at.spec().policy)
            await pulls.create(f"pull-{number}", spec)
            await pulls.append(f"pull-{number}", [PullFinished(status="done")])
            await pulls.hold_reports(f"pull-{number}")
            await at.run(f"run-{number}", number)
        await git("update-ref", "refs/mendbot/pulls/51", head, git_dir=mirror)
        past = {"created_at": 1, "ended_at": 2}
        changes = [sa.update(pull_runs).values(past), sa.update(runs).values(**past, status="failed", reported=2**62)]
        await at.database.write(lambda connection: [connection.execute(change) for change in changes] and None)
        await forget_old(at.context, now_ms())
        checks = [name for name in ("pull-51", "pull-52") if await pulls.get(name) is not None]
        return checks + [name for name in ("run-51", "run-52") if await at.runs.get(name) is not None]

    assert at_desk(work) == ["pull-51", "run-51"]


def test_a_broken_mirror_keeps_its_own_and_hinders_nobody_else(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[bool]:
        await ended(at, "run-old", days=400)
        await at.run("run-there", 1, repo=at.repo.model_copy(update={"name": "z-other"}))
        change = sa.update(runs).where(runs.c.id == "run-there").values(status="failed", created_at=1, reported=2**62)
        await at.database.write(lambda connection: connection.execute(change) and None)
        (at.context.mirror(at.repo) / "HEAD").unlink()
        await forget_old(at.context, now_ms())
        return [await at.runs.get(name) is not None for name in ("run-old", "run-there")]

    assert at_desk(work) == [True, False]


def test_kept_dependencies_go_that_nobody_uses_or_that_are_half(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], list[str]]:
        space = at.context.settings.home / "dependencies/@octo%2Ftiny/default"
        (young, old), half = ("a" * 64, "b" * 64), f".{'c' * 64}.new-0a"
        for name in (young, old, half):
            (space / name).mkdir(parents=True)
            (space / name / "manifest.json").write_text('{"boot": "b", "tree": "/x", "products": [], "size": 1}')
        aged(space / old / "manifest.json", 31)
        await tidy_dependencies(at.context)
        return [young], sorted(path.name for path in space.iterdir() if not path.name.endswith(".mutex"))

    wanted, left = at_desk(work)
    assert left == wanted


def test_a_mirror_is_tidied_once_a_week_and_not_under_a_run_that_lasts(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[int]:
        await ended(at, "run-1", days=1)
        mirror, seen = at.context.mirror(at.repo), []

        async def look(now: int) -> None:
            await tidy_mirrors(at.context, now)
            counted = (await git("count-objects", git_dir=mirror)).split()
            seen.append(int(counted[0]))

        async def clutter() -> None:
            await git("hash-object", "-w", "--stdin", git_dir=mirror, stdin=b"%d" % len(seen))
            blob = (await git("hash-object", "--stdin", git_dir=mirror, stdin=b"%d" % len(seen))).decode().strip()
            await git("update-ref", f"refs/mendbot/test-{len(seen)}", blob, git_dir=mirror)

        now = now_ms()
        assert int((await git("count-objects", git_dir=mirror)).split()[0]) > 3
        await look(now)
        await clutter()
        await look(now + 6 * DAY)
        await at.run("run-2", 1)
        await look(now + 9 * DAY)
        await at.runs.append("run-2", [SessionFinished(status=Status.FAILED)])
        await look(now + 9 * DAY)
        return seen

    first, young, under_way, last = at_desk(work)
    assert (young, under_way, last) == (first + 1, first + 1, first)


def test_the_loop_forgets_what_is_old(at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup, "RECONCILE_S", 0)

    async def work(at: Harness) -> bool:
        await ended(at, "run-old", days=400)
        loop = asyncio.create_task(cleanup.cleanup_loop(at.context))
        while await at.runs.get("run-old") is not None:  # noqa: ASYNC110  # the desk's own limit ends it
            await asyncio.sleep(0.01)
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)
        return loop.cancelled()

    assert at_desk(work)
