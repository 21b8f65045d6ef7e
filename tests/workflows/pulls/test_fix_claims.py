"""What *Fix* claims of a change to somebody's pull request: where nothing shows that it is a fix, nothing is pushed."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.workflows.conftest import NAME, ScriptedAgent
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot

FAILS_FOR_A_WHILE = """\
import pathlib, sys
left = pathlib.Path({left!r})
runs = int(left.read_text())
left.write_text(str(max(runs - 1, 0)))
if runs:
    print("wrong.txt:1: error: new trouble")
sys.exit(runs > 0)
"""
"""Fails as often as the file says, whatever is changed."""


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


async def failing(bot: RunningBot) -> tuple[int, str, Path]:
    """A pull request whose test has failed as new, and the file that says how often it still does."""
    left = bot.root / "left"
    left.write_text("1000")
    bot.furnish()
    bot.at.hands.append(ScriptedAgent(lambda tree: (tree / "wrong.txt").write_text("changed\n") and None))
    number, sha = bot.open({"test.py": FAILS_FOR_A_WHILE.format(left=str(left)), "wrong.txt": "a\n"})
    await bot.quiet()
    assert bot.conclusions(sha)["test"] == "failure"
    return number, sha, left


def test_where_nothing_fails_any_more_nothing_is_changed(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        number, sha, left = await failing(bot)
        left.write_text("0")
        bot.world.press_button(bot.checks(sha)["test"].id, "fix", "ada")
        await bot.quiet()
        assert bot.head(number) == sha
        assert "Nothing to fix" in bot.comment(number, "fix")
        assert bot.conclusions(sha)["fix"] == "neutral"
        assert "Nothing to fix" in bot.checks(sha)["fix"].title

    do(work)


def test_a_change_after_which_the_check_passes_by_luck_is_offered_and_not_pushed(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        number, sha, left = await failing(bot)
        branches = bot.world.branches(NAME)
        left.write_text("2")  # on the head, and once after the change
        bot.world.press_button(bot.checks(sha)["test"].id, "fix", "ada")
        await bot.quiet()
        assert bot.world.branches(NAME) == branches
        said = bot.comment(number, "fix")
        assert said.partition("-->")[2].lstrip().startswith("**⚠️ Nothing shows that the task is done")
        assert "The failure also went away without the change, so chance may explain it." in said
        assert "+changed" in said
        assert "Fixed" not in said
        assert bot.conclusions(sha)["fix"] == "neutral"

    do(work)
