"""Whose configuration counts: the default branch's, never a pull request's; and a broken one is said where it broke."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.workflows.conftest import NAME
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot

BROKEN = "checks:\n  test: { command: [python3, test.py] }\nmax_attempts: many\n"
PATH = ".github/mendbot.yml"


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


@pytest.mark.parametrize("fork", [False, True], ids=["own", "fork"])
def test_a_pull_request_cannot_choose_what_runs(do: WithBot, fork: bool) -> None:
    """K-1."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        evil = bot.policy(checks={"test": {"command": bot.recorded("evil")}}, setup=bot.recorded("evil-setup"))
        number, sha = (bot.open_fork if fork else bot.open)({PATH: evil})
        await bot.quiet()
        if fork:
            bot.world.comment(NAME, number, f"/mendbot ok-to-test {sha}", "ada")
            await bot.quiet()
        assert bot.executed(sha) == ["lint", "test"]
        assert not [line for line in bot.executed() if line.startswith("evil")]

    do(work)


def test_a_broken_file_on_a_pull_request_is_said_there_and_nowhere_else(do: WithBot) -> None:
    """K-1."""

    async def work(bot: RunningBot) -> None:
        base = bot.furnish()
        _, sha = bot.open({PATH: BROKEN})
        await bot.quiet()
        (run,) = bot.runs(sha, "config")
        assert (run.status, run.conclusion) == ("completed", "neutral")
        assert ".github/mendbot.yml" in run.title
        assert {(one["path"], one["start_line"]) for one in run.annotations} >= {(PATH, 3)}
        assert bot.executed(sha) == ["lint", "test"]
        assert bot.runs(base, "config") == ()

    do(work)


def test_a_pull_request_that_did_not_break_the_file_is_not_told_of_it(do: WithBot) -> None:
    """K-1: the commit that broke it is."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        await bot.quiet()
        broke = bot.push({PATH: BROKEN}, to="main")
        await bot.quiet()
        _, sha = bot.open({"notes.txt": "1\n"})
        await bot.quiet()
        assert bot.executed(sha) == ["lint", "test"]
        assert (len(bot.runs(broke, "config")), bot.runs(sha, "config")) == (1, ())

    do(work)


def test_the_first_file_ever_if_broken_leaves_the_defaults_and_says_so(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.push({PATH: None}, to="main")
        bot.open({"notes.txt": "1\n"})
        await bot.quiet()  # by now it is known that there is no file
        broke = bot.push({PATH: BROKEN}, to="main")
        await bot.quiet()
        (run,) = bot.runs(broke, "config")
        assert "default configuration is in force" in run.summary
        assert "last valid" not in run.summary

    do(work)


def test_a_good_file_is_not_remarked_on(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        _, sha = bot.open({PATH: bot.policy(max_attempts=2)})
        pushed = bot.furnish(max_attempts=3)
        await bot.quiet()
        assert bot.runs(sha, "config") == ()
        assert bot.runs(pushed, "config") == ()

    do(work)


def test_a_push_that_breaks_the_default_branchs_file_leaves_the_last_good_one_in_force(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        _, first = bot.open({"notes.txt": "1\n"}, branch="first")
        await bot.quiet()
        broke = bot.push({PATH: BROKEN}, to="main")
        await bot.quiet()
        (run,) = bot.runs(broke, "config")
        assert run.conclusion == "neutral"
        assert [one["start_line"] for one in run.annotations if one["path"] == PATH][-1] == 3
        assert "last valid" in run.summary or "in force" in run.summary
        _, second = bot.open({"notes.txt": "2\n"}, branch="second")
        await bot.quiet()
        assert bot.executed(first) == bot.executed(second) == ["lint", "test"]
        mended = bot.furnish(checks={"test": {"command": bot.recorded("test")}})
        await bot.quiet()
        assert bot.runs(mended, "config") == ()
        _, third = bot.open({"notes.txt": "3\n"}, branch="third")
        await bot.quiet()
        assert bot.executed(third) == ["test"]

    do(work)


def test_a_push_that_was_good_and_broken_before_anything_ran_is_said_too(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        good = bot.furnish()
        await bot.quiet()
        bot.push({PATH: BROKEN}, to="main")
        await bot.quiet()
        _, sha = bot.open({"notes.txt": "1\n"})
        await bot.quiet()
        assert bot.runs(good, "config") == ()
        assert bot.executed(sha) == ["lint", "test"]  # the push alone made the good one known

    do(work)


def test_the_config_check_asked_for_again_reads_the_file_again(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        _, sha = bot.open({PATH: BROKEN})
        await bot.quiet()
        bot.world.rerequest_check_run(bot.runs(sha, "config")[0].id, "ada")
        await bot.quiet()
        assert bot.checks(sha)["config"].conclusion == "neutral"
        assert bot.executed(sha) == ["lint", "test"]

    do(work)
