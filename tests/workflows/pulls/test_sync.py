"""Which heads are checked, and what becomes of their checks when the pull request changes: drafts, paths, labels,
closing, pushes, in any order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from demo.standin.actions import repository
from demo.standin.server import StandIn
from demo.standin.views import DeliveryView
from tests.workflows.conftest import NAME
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot

NOTES: dict[str, str | bytes | None] = {"notes.txt": "hello\n"}
SLOW = "import os, pathlib, time\npathlib.Path(PID).write_text(str(os.getpid()))\ntime.sleep(300)\n"


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def test_a_draft_is_checked_when_it_is_ready_and_no_more_when_it_is_one_again(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, sha = bot.open(NOTES, draft=True)
        await bot.quiet()
        assert (bot.executed(), bot.checks(sha)) == ([], {})
        bot.world.mark_ready(NAME, number, "ada")
        await bot.quiet()
        assert bot.executed(sha) == ["lint", "test"]
        bot.world.convert_to_draft(NAME, number, "ada")
        await bot.quiet()
        new = bot.push({"notes.txt": "more\n"})
        await bot.quiet()
        assert bot.executed(new) == []

    do(work)


def test_drafts_are_checked_where_the_configuration_wants_it(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish(pull_requests={"drafts": True})
        _, sha = bot.open(NOTES, draft=True)
        await bot.quiet()
        assert bot.executed(sha) == ["lint", "test"]

    do(work)


def test_only_pull_requests_that_change_the_paths_named_are_checked(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish(pull_requests={"paths": ["src/**"]})
        _, other = bot.open(NOTES, branch="docs")
        _, meant = bot.open({"src/deep/a.py": "1\n"}, branch="code")
        await bot.quiet()
        assert (bot.executed(other), bot.executed(meant)) == ([], ["lint", "test"])
        assert set(bot.conclusions(other).values()) == {"skipped"}  # what is required would else wait for ever
        new = bot.push({"src/b.py": "2\n"}, to="docs")
        await bot.quiet()
        assert bot.executed(new) == ["lint", "test"]

    do(work)


def test_nothing_is_checked_where_the_configuration_says_so(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish(pull_requests={"enabled": False})
        _, sha = bot.open(NOTES)
        await bot.quiet()
        assert (bot.executed(), bot.checks(sha)) == ([], {})

    do(work)


async def _running(bot: RunningBot, branch: str = "feature") -> tuple[int, str]:
    """A pull request whose test runs for long and is running."""
    pid = bot.root / f"pid-{branch}"
    number, sha = bot.open({"test.py": SLOW.replace("PID", repr(str(pid)))}, branch=branch)
    await bot.until(lambda: pid.exists() and pid.read_text() != "", "the test to run")
    return number, sha


def test_what_runs_is_stopped_when_it_is_wanted_no_more(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        numbers: dict[str, int] = {}
        heads: dict[str, str] = {}
        for how in ("label", "close", "draft", "merge", "off"):
            numbers[how], heads[how] = await _running(bot, how)
        bot.world.add_label(NAME, numbers["label"], "auto-fix-skip", "ada")
        bot.world.close_issue(NAME, numbers["close"], "ada")
        bot.world.convert_to_draft(NAME, numbers["draft"], "ada")
        bot.world.merge_pull(NAME, numbers["merge"], "ada")
        stopped = {"lint": "success", "test": "cancelled", "typecheck": "skipped"}
        others = [sha for how, sha in heads.items() if how != "off"]
        await bot.until(lambda: all(bot.conclusions(sha) == stopped for sha in others), "the end of the others")
        assert bot.conclusions(heads["off"])["test"] is None
        bot.furnish(pull_requests={"enabled": False})
        bot.world.edit_pull(NAME, numbers["off"], "ada", body="Any change.")
        await bot.quiet()
        assert {how: bot.conclusions(sha) for how, sha in heads.items()} == dict.fromkeys(heads, stopped)
        assert not list((bot.at.context.settings.home / "pulls").glob("*/*/*"))

    do(work)


def test_what_was_stopped_so_is_checked_when_it_is_wanted_again(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, sha = bot.open(NOTES)
        await bot.quiet()
        bot.world.close_issue(NAME, number, "ada")
        await bot.quiet()
        bot.world.reopen_issue(NAME, number, "ada")
        await bot.quiet()
        assert bot.executed(sha) == ["lint", "test"]  # it had ended: nothing to do again
        bot.world.add_label(NAME, number, "auto-fix-skip", "ada")
        await bot.quiet()
        new = bot.push({"notes.txt": "more\n"})
        await bot.quiet()
        assert bot.executed(new) == []
        bot.world.remove_label(NAME, number, "auto-fix-skip", "ada")
        await bot.quiet()
        assert bot.executed(new) == ["lint", "test"]

    do(work)


def test_a_newer_head_stops_the_work_on_the_older_at_once(do: WithBot) -> None:
    """H-1."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        _, old = await _running(bot)
        process = Path("/proc", (bot.root / "pid-feature").read_text())
        assert process.exists()
        new = bot.push({"test.py": "pass\n"})
        await bot.until(lambda: bot.conclusions(old).get("test") == "cancelled", "the old head's end", 5)
        await bot.until(lambda: not process.exists(), "the end of its process")
        await bot.quiet()
        assert bot.conclusions(old) == {"lint": "success", "test": "cancelled", "typecheck": "skipped"}
        assert new[:7] in bot.checks(old)["test"].title
        assert bot.checks(old)["test"].actions == ()
        assert bot.conclusions(new)["test"] == "success"

    do(work)


def test_a_push_back_to_an_older_head_checks_what_was_cut_short_and_no_more(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, old = await _running(bot)
        new = bot.push({"test.py": "pass\n"})
        await bot.quiet()
        _reset(bot, "feature", old)
        await bot.until(lambda: bot.executed(old).count("test") == 2, "the old head's test to run again")
        _reset(bot, "feature", new)
        await bot.quiet()
        assert bot.head(number) == new
        assert bot.executed(new) == ["lint", "test"]
        assert bot.conclusions(old)["test"] == "cancelled"
        assert bot.conclusions(new)["test"] == "success"

    do(work)


def _reset(bot: RunningBot, branch: str, sha: str) -> None:
    """Force a branch to a commit that it had before."""
    world = bot.world

    async def work() -> None:
        found, user = world._state.repo(NAME), world._state.ensure_user("ada")
        async with found.git.lock:
            before = await found.git.branches()
            await found.git.update_ref(f"refs/heads/{branch}", sha)
            await repository.pushed(world._hooks, found, before, user)

    world._do(work)


ORDERS = tuple(itertools.permutations(range(5)))
FEW = ORDERS[::40]
"""Three of them, in each of two tests. `make soak` does all."""


def _recorded(bot: RunningBot, *, closed: bool) -> tuple[int, list[DeliveryView]]:
    """A pull request that was opened, pushed to twice, labelled, and closed or edited; and what GitHub told of it."""
    number, _ = bot.open(NOTES)
    bot.push({"notes.txt": "A\n"})
    bot.push({"notes.txt": "B\n"})
    bot.world.add_label(NAME, number, "question", "ada")
    if closed:
        bot.world.close_issue(NAME, number, "ada")
    else:
        bot.world.edit_pull(NAME, number, "ada", body="Please.")
    sent = [one for one in bot.skip() if one.event == "pull_request"]
    last = "closed" if closed else "edited"
    assert [one.action for one in sent] == ["opened", "synchronize", "synchronize", "labeled", last]
    return number, sent


async def _end(bot: RunningBot, number: int) -> dict[str, Any]:
    stores, repo = bot.at.context.stores, bot.at.repo
    latest = await stores.pulls.latest_of(repo, number)
    newest = await stores.approvals.head_known(repo, number)
    return {
        "checked": (latest.spec.head_sha, latest.status) if latest else None,
        "newest": newest[0] if newest else None,
        "executed": bot.executed(),
        "live": [run.name for run in bot.world.check_runs(NAME) if run.status != "completed"],
        "conclusions": bot.conclusions(bot.head(number)),
        "trees": list((bot.at.context.settings.home / "pulls").glob("*/*/*")),
    }


async def _all_end_alike(bot: RunningBot, orders: Sequence[tuple[int, ...]], *, closed: bool) -> dict[str, Any]:
    """Tell the five events in each of these orders, and then all of them once more, in the other direction."""
    bot.furnish(checks={"test": {"command": bot.recorded("test")}})
    number, sent = _recorded(bot, closed=closed)
    ends = []
    for order in orders:
        for at in order:
            await bot.accept(sent[at])
            await bot.heard_all()
        await bot.accept(*(sent[at] for at in reversed(order)))
        await bot.quiet()
        ends.append(await _end(bot, number))
        await bot.forget()
        (bot.root / "executed.log").unlink(missing_ok=True)
    assert all(end == ends[0] for end in ends), ends
    return {"head": bot.head(number), **ends[0]}


ALL = pytest.param(ORDERS, marks=[pytest.mark.soak, pytest.mark.timeout(900)], id="all")


@pytest.mark.parametrize("orders", [pytest.param(FEW, id="few"), ALL])
def test_in_any_order_the_newest_head_alone_is_checked_and_once(do: WithBot, orders: Any) -> None:
    async def work(bot: RunningBot) -> None:
        end = await _all_end_alike(bot, orders, closed=False)
        assert end["executed"] == [f"test {end['head']}"]
        assert end["checked"] == (end["head"], "done")
        assert end["newest"] == end["head"]
        assert (end["live"], end["trees"]) == ([], [])
        assert end["conclusions"]["test"] == "success"

    do(work, patience_s=800.0)


@pytest.mark.parametrize("orders", [pytest.param(FEW, id="few"), ALL])
def test_in_any_order_nothing_is_checked_of_what_was_closed(do: WithBot, orders: Any) -> None:
    async def work(bot: RunningBot) -> None:
        end = await _all_end_alike(bot, orders, closed=True)
        assert (end["executed"], end["checked"], end["conclusions"], end["live"]) == ([], None, {}, [])
        assert end["newest"] == end["head"]

    do(work, patience_s=800.0)


def test_a_late_event_of_an_old_head_leaves_the_checks_of_the_new_alone(do: WithBot) -> None:
    """As GitHub sends them: not as it is asked, but as it was told."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, _ = await _running(bot)
        opened = next(one for one in bot.world.deliveries if (one.event, one.action) == ("pull_request", "opened"))
        new = bot.push({"test.py": "pass\n"})
        await bot.quiet()
        await bot.accept(opened)
        await bot.quiet()
        assert bot.executed(new) == ["lint", "test"]
        known = await bot.at.context.stores.approvals.head_known(bot.at.repo, number)
        assert known is not None
        assert known[0] == new

    do(work)


def test_a_pull_request_that_github_does_not_have_is_left_alone_and_what_runs_for_it_stops(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, sha = await _running(bot)
        bot.world.faults.add("GET", f"/repos/{NAME}/pulls/{number}", status=404, times=99)
        bot.world.add_label(NAME, number, "question", "ada")
        await bot.quiet()
        assert bot.conclusions(sha)["test"] == "cancelled"
        assert "the pull request is gone" in await bot.told()

    do(work)
