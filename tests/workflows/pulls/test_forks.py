"""Code of strangers: nothing of it runs until somebody with write access approves that very commit (T9, T11)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.workflows.conftest import NAME
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot

FORK = "eve/tiny"
NOTES: Mapping[str, str | bytes | None] = {"notes.txt": "hello\n"}
WAITING = {"lint": "action_required", "test": "action_required", "typecheck": "action_required"}
CHECKED = {"lint": "success", "test": "success", "typecheck": "skipped"}


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def trees(bot: RunningBot) -> list[Path]:
    return list((bot.at.context.settings.home / "pulls").glob("*/*/*"))


async def _waiting(bot: RunningBot) -> tuple[int, str]:
    bot.furnish()
    number, sha = bot.open_fork(dict(NOTES))
    await bot.quiet()
    return number, sha


def test_a_strangers_head_waits_and_says_for_whom(do: WithBot) -> None:
    """H-3."""

    async def work(bot: RunningBot) -> None:
        number, sha = await _waiting(bot)
        assert (bot.executed(), trees(bot)) == ([], [])
        assert not bot.at.context.mirror(bot.at.repo).exists()  # its code is not even fetched
        assert bot.conclusions(sha) == WAITING
        assert all(run.actions == () for run in bot.checks(sha).values())
        assert f"/mendbot ok-to-test {sha[:12]}" in bot.comment(number, "checks")

    do(work)


@pytest.mark.parametrize("named", [False, True], ids=["bare", "named"])
def test_an_approval_lets_that_commit_run_and_no_other(do: WithBot, named: bool) -> None:
    """H-3."""

    async def work(bot: RunningBot) -> None:
        number, sha = await _waiting(bot)
        bot.world.comment(NAME, number, f"/mendbot ok-to-test {sha[:12] if named else ''}".strip(), "ada")
        await bot.quiet()
        assert bot.conclusions(sha) == CHECKED
        assert bot.executed(sha) == ["lint", "test"]
        assert "/mendbot ok-to-test" not in bot.comment(number, "checks")  # nothing is asked for any more
        new = bot.push({"notes.txt": "evil\n"}, repo=FORK, by="eve")
        await bot.quiet()
        assert bot.executed(new) == []
        assert bot.conclusions(new) == WAITING
        assert f"/mendbot ok-to-test {new[:12]}" in bot.comment(number, "checks")
        assert sha[:12] not in bot.comment(number, "checks")

    do(work)


@pytest.mark.parametrize("role", ["triage", "read", "none"])
def test_an_approval_of_somebody_else_counts_for_nothing(do: WithBot, role: str) -> None:
    async def work(bot: RunningBot) -> None:
        number, sha = await _waiting(bot)
        bot.world.set_permission(NAME, "bob", role)
        for who in ("bob", "eve"):
            bot.world.comment(NAME, number, f"/mendbot ok-to-test {sha}", who)
        await bot.quiet()
        assert bot.executed() == []
        assert bot.conclusions(sha) == WAITING

    do(work)


def test_nobody_approves_anything_while_github_cannot_say_who_may(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        number, sha = await _waiting(bot)
        bot.world.faults.add("GET", f"/repos/{NAME}/collaborators/ada/permission", status=403, times=99)
        bot.world.comment(NAME, number, f"/mendbot ok-to-test {sha}", "ada")
        await bot.quiet()
        assert bot.executed() == []

    do(work)


def test_an_author_of_whom_github_cannot_say_what_he_may_waits(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        bot.world.faults.add("GET", f"/repos/{NAME}/collaborators/ada/permission", status=403, times=99)
        _, sha = bot.open(dict(NOTES))
        await bot.quiet()
        assert bot.executed() == []
        assert bot.conclusions(sha) == WAITING

    do(work)


def test_an_author_who_may_write_no_more_is_a_stranger(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        _, sha = bot.open(dict(NOTES), by="ada")
        await bot.quiet()
        assert bot.executed(sha) == ["lint", "test"]
        bot.world.set_permission(NAME, "ada", "read")
        bot.world.set_permission(NAME, "bob", "write")
        bot.world.rerequest_check_suite(NAME, sha, "bob")
        new = bot.push({"notes.txt": "more\n"})
        await bot.quiet()
        assert bot.executed(sha) == ["lint", "test"]
        assert bot.executed(new) == []
        assert bot.conclusions(new) == WAITING

    do(work)


def test_without_a_box_no_approval_helps_and_that_is_said(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        number, sha = await _waiting(bot)
        bot.world.comment(NAME, number, f"/mendbot ok-to-test {sha}", "ada")
        await bot.quiet()
        assert bot.executed() == []
        assert bot.conclusions(sha) == WAITING
        assert {run.title for run in bot.checks(sha).values()} == {"Not run"}
        assert all("sandbox" in run.summary for run in bot.checks(sha).values())
        assert all("ok-to-test" not in run.summary for run in bot.checks(sha).values())
        assert "ok-to-test" not in bot.comment(number, "checks")

    do(work, boxed=False)


async def _race(bot: RunningBot, at: int) -> tuple[str, str]:
    """Somebody approves what he sees while its author pushes; -> what was approved, and what was pushed."""
    name = f"race-{at}"
    seen = bot.push({"notes.txt": f"{at}\n"}, to=name, repo=FORK, by="eve")
    number = int(bot.world.open_pull(NAME, f"eve:{name}", f"Race {at}", "", "eve"))
    await bot.until(lambda: bot.conclusions(seen) == WAITING, "the head to wait")
    await _approve_and_push(bot, at, number, seen)
    return seen, bot.push({"notes.txt": "evil\n"}, to=name, repo=FORK, by="eve")


async def _approve_and_push(bot: RunningBot, at: int, number: int, seen: str) -> None:
    """The approval, and then the moment for the push: at once, when the comment is seen, approved, or being checked."""
    repo, stores = bot.at.repo, bot.at.context.stores
    comment = bot.world.comment(
        NAME, number, f"/mendbot ok-to-test {seen[:12]}" if at % 2 else "/mendbot ok-to-test", "ada"
    )
    match at % 5:
        case 0:
            pass
        case 1:
            await bot.until(lambda: _acknowledged(bot, number, comment), "the comment to be seen")
        case 2:
            await bot.until_stored(lambda: stores.approvals.approved(repo, number, seen))
        case 3:
            await bot.until_stored(lambda: stores.pulls.latest_of(repo, number, seen))
        case 4:
            await bot.until(lambda: bot.executed(seen) != [], "the approved head to run")


def _acknowledged(bot: RunningBot, number: int, comment: int) -> bool:
    return any(one.id == comment and one.reactions for one in bot.world.comments(NAME, number))


@pytest.mark.parametrize("count", [10, pytest.param(200, marks=[pytest.mark.soak, pytest.mark.timeout(900)])])
def test_what_is_pushed_about_when_somebody_approves_never_runs(do: WithBot, count: int) -> None:
    """H-3."""

    async def work(bot: RunningBot) -> None:
        bot.furnish(checks={"test": {"command": bot.recorded("test")}})
        bot.world.create_user("eve")
        bot.world.fork(NAME, "eve")
        races: list[tuple[str, str]] = []
        for first in range(0, count, 20):
            races += await asyncio.gather(*(_race(bot, at) for at in range(first, min(first + 20, count))))
            await bot.quiet()
        ran = {line.split()[1] for line in bot.executed()}
        assert ran.isdisjoint({evil for _, evil in races})
        assert len(ran & {seen for seen, _ in races}) >= count // 5
        assert {bot.conclusions(evil)["test"] for _, evil in races} == {"action_required"}

    do(work, patience_s=800.0)


def test_a_comment_that_came_before_the_push_approves_nothing_when_it_is_heard_after_it(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        number, _ = await _waiting(bot)
        bot.deaf = True
        bot.world.comment(NAME, number, "/mendbot ok-to-test", "ada")
        evil = bot.push({"notes.txt": "evil\n"}, repo=FORK, by="eve")
        missed = bot.skip()
        bot.deaf = False
        await bot.accept(*(one for one in missed if one.event != "issue_comment"))
        await bot.quiet()
        await bot.accept(*(one for one in missed if one.event == "issue_comment"))
        await bot.quiet()
        assert bot.executed() == []
        assert bot.conclusions(evil) == WAITING
        assert evil[:12] in bot.comment(number, "reply")

    do(work)
