"""*Cancel* stops what its check run is about, a fix or the checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.workflows.conftest import ScriptedAgent
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def press(bot: RunningBot, sha: str, check: str, identifier: str) -> None:
    bot.world.press_button(bot.checks(sha)[check].id, identifier, "ada")


def test_cancel_stops_a_fix(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, sha = bot.open({"wrong.txt": "new trouble\n"})
        await bot.quiet()
        busy = bot.root / "busy"
        slow = f"import pathlib, time\npathlib.Path({str(busy)!r}).touch()\ntime.sleep(300)\n"
        bot.at.hands.append(ScriptedAgent(lambda tree: (tree / "test.py").write_text(slow) and None))
        press(bot, sha, "test", "fix")
        await bot.until(lambda: "cancel" in _buttons(bot, sha, "fix"), "the button")
        press(bot, sha, "fix", "cancel")
        await bot.quiet()
        assert bot.conclusions(sha)["fix"] == "cancelled"
        assert bot.head(number) == sha

    do(work)


def test_cancel_stops_the_checks_and_they_can_be_run_again(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        once = bot.root / "once"
        slow = (
            f"import pathlib, time\nonce = pathlib.Path({str(once)!r})\n"
            "if not once.exists():\n    once.touch()\n    time.sleep(300)\n"
        )
        _, sha = bot.open({"test.py": slow})
        await bot.until(lambda: "cancel" in _buttons(bot, sha, "test") and once.exists(), "the test to run")
        press(bot, sha, "test", "cancel")
        await bot.quiet()
        assert bot.conclusions(sha) == {"lint": "success", "test": "cancelled", "typecheck": "skipped"}
        assert "ada" in bot.checks(sha)["test"].title
        press(bot, sha, "test", "rerun_failed")
        await bot.quiet()
        assert bot.conclusions(sha)["test"] == "success"
        assert bot.executed(sha) == ["lint", "test", "test"]

    do(work)


def _buttons(bot: RunningBot, sha: str, check: str) -> set[str]:
    found = bot.checks(sha).get(check)
    return {action["identifier"] for action in found.actions} if found else set()
