"""A head that `pull_requests.paths` leaves out: its checks are skipped, unless somebody asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.workflows.conftest import NAME
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


@pytest.mark.parametrize("how", ["rerun", "suite", "command"])
def test_what_the_paths_leave_out_is_checked_when_somebody_asks_and_stands(do: WithBot, how: str) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish(pull_requests={"paths": ["src/**"]})
        gate = bot.root / "gate"
        waits = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists():\n    time.sleep(0.01)\n"
        number, sha = bot.open({"test.py": waits})
        await bot.quiet()
        bot.world.set_permission(NAME, "bob", "triage")
        bot.world.rerequest_check_run(bot.checks(sha)["test"].id, "bob")
        await bot.quiet()
        assert bot.executed(sha) == []
        if how == "rerun":
            bot.world.rerequest_check_run(bot.checks(sha)["test"].id, "ada")
        elif how == "suite":
            bot.world.rerequest_check_suite(NAME, sha, "ada")
        else:
            bot.world.comment(NAME, number, "/mendbot check", "ada")
        await bot.until(lambda: bot.executed(sha) == ["lint", "test"], "the test to run")
        bot.world.add_label(NAME, number, "question", "ada")
        await bot.heard_all()
        gate.touch()
        await bot.quiet()
        assert bot.conclusions(sha) == {"lint": "success", "test": "success", "typecheck": "skipped"}
        bot.world.edit_pull(NAME, number, "ada", body="Any change.")
        await bot.quiet()
        assert bot.conclusions(sha)["test"] == "success"

    do(work)
