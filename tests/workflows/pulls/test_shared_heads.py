"""A head that several pull requests have, or one whose base branch changes: GitHub shows a commit's check runs at all
of them, so one request speaks for it at a time, against its own base."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.workflows.conftest import NAME
from tests.workflows.pull_bot import EXISTING_RUNS, NEW_RUNS, RunningBot, WithBot, with_bot

TROUBLE = "trouble\n"


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def _bases(bot: RunningBot) -> None:
    """`main` has the trouble already, `stable` left it before."""
    bot.furnish()
    bot.push({"stable.txt": "1\n"}, to="stable")
    bot.push({"wrong.txt": TROUBLE}, to="main")


def _to_stable(bot: RunningBot) -> int:
    """A second request of the same branch."""
    return int(bot.world.open_pull(NAME, "feature", "The same for stable", "", "ada", base="stable"))


async def _told_for(bot: RunningBot, sha: str, name: str) -> int:
    """Which request the check run that GitHub shows is about."""
    row = await bot.at.context.stores.pulls.get(bot.checks(sha)[name].external_id)
    assert row is not None
    return row.spec.number


def _gate(bot: RunningBot) -> tuple[Path, str]:
    """A test that fails when there is a file, and until then waits."""
    gate = bot.root / "gate"
    return gate, (
        f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists():\n    time.sleep(0.01)\n"
        "raise SystemExit(1)\n"
    )


def test_requests_with_one_head_that_are_heard_of_at_once_are_checked_once(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        _bases(bot)
        bot.deaf = True
        first, sha = bot.open({"notes.txt": "hello\n"})
        _to_stable(bot)
        bot.deaf = False
        await bot.quiet()
        runs = EXISTING_RUNS if await _told_for(bot, sha, "test") == first else NEW_RUNS  # whichever is taken up first
        assert bot.executed(sha) == ["lint", *runs]
        assert [len(bot.runs(sha, name)) for name in ("lint", "test", "typecheck")] == [1, 1, 1]

    do(work)


def test_a_second_request_with_the_head_takes_over_against_its_own_base_when_the_first_is_closed(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        _bases(bot)
        first, sha = bot.open({"notes.txt": "hello\n"})
        await bot.quiet()
        second = _to_stable(bot)
        await bot.quiet()
        assert bot.executed(sha) == ["lint", *EXISTING_RUNS]
        assert bot.conclusions(sha)["test"] == "neutral"  # `main` fails likewise
        assert [len(bot.runs(sha, name)) for name in ("lint", "test", "typecheck")] == [1, 1, 1]
        assert await _told_for(bot, sha, "test") == first
        bot.world.close_issue(NAME, first, "ada")
        await bot.quiet()
        assert bot.executed(sha) == ["lint", *EXISTING_RUNS, *NEW_RUNS]
        assert bot.conclusions(sha) == {"lint": "success", "test": "failure", "typecheck": "skipped"}
        assert await _told_for(bot, sha, "test") == second
        bot.world.reopen_issue(NAME, first, "ada")
        await bot.quiet()
        assert len(bot.executed(sha)) == 8
        assert bot.conclusions(sha)["test"] == "failure"

    do(work)


def test_what_a_head_installed_goes_with_its_request(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        number, sha = bot.open({"notes.txt": "hello\n"})
        await bot.quiet()
        place = bot.at.context.settings.home / "dependencies" / f"@{NAME.replace('/', '%2F')}"
        kept, others = place / f"head-{sha}/entry", place / "default/entry"
        for entry in (kept, others):
            entry.mkdir(parents=True)
        bot.world.close_issue(NAME, number, "ada")
        await bot.quiet()
        assert [entry.exists() for entry in (kept, others)] == [False, True]

    do(work)


def test_a_request_that_is_closed_does_not_take_the_checks_of_another_with_its_head(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        _bases(bot)
        gate, script = _gate(bot)
        first, sha = bot.open({"test.py": script})
        await bot.until(lambda: "test" in bot.executed(sha) and bool(bot.runs(sha, "test")), "the test to run")
        second = _to_stable(bot)
        await bot.heard_all()
        bot.world.close_issue(NAME, first, "ada")
        await bot.until(lambda: bot.executed(sha).count("test") == 2, "the other's test to run")
        gate.touch()
        await bot.quiet()
        assert [run.conclusion for run in bot.runs(sha, "test")] == ["cancelled", "failure"]
        assert await _told_for(bot, sha, "test") == second

    do(work)


def test_whoever_asks_in_either_thread_asks_for_the_one_that_speaks(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        _bases(bot)
        first, sha = bot.open({"notes.txt": "hello\n"})
        await bot.quiet()
        second = _to_stable(bot)
        await bot.quiet()
        before = len(bot.executed(sha))
        bot.world.comment(NAME, second, "/mendbot check lint", "ada")
        await bot.quiet()
        assert bot.executed(sha)[before:] == ["lint"]
        assert await _told_for(bot, sha, "lint") == first
        assert bot.conclusions(sha)["test"] == "neutral"

    do(work)


def test_what_failed_is_held_against_the_new_base_where_a_request_gets_another(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        _bases(bot)
        number, sha = bot.open({"notes.txt": "hello\n"})
        await bot.quiet()
        assert bot.conclusions(sha)["test"] == "neutral"
        bot.world.edit_pull(NAME, number, "ada", base="stable")
        await bot.quiet()
        assert bot.executed(sha) == ["lint", *EXISTING_RUNS, *NEW_RUNS]
        assert bot.conclusions(sha) == {"lint": "success", "test": "failure", "typecheck": "skipped"}
        bot.world.edit_pull(NAME, number, "ada", body="The same again.")
        await bot.quiet()
        assert len(bot.executed(sha)) == 8

    do(work)


def test_checks_under_way_start_again_against_the_new_base_and_say_why(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        _bases(bot)
        gate, script = _gate(bot)
        number, sha = bot.open({"test.py": script})
        await bot.until(lambda: "test" in bot.executed(sha) and bool(bot.runs(sha, "test")), "the test to run")
        bot.world.edit_pull(NAME, number, "ada", base="stable")
        await bot.until(lambda: bot.executed(sha).count("test") == 2, "the test to run again")
        gate.touch()
        await bot.quiet()
        assert bot.executed(sha).count("lint") == 1
        assert [run.conclusion for run in bot.runs(sha, "test")] == ["cancelled", "failure"]
        assert bot.runs(sha, "test")[0].title == "Base branch changed"

    do(work)
