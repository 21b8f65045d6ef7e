"""The limits of pushes where one is reached while a fix is under way."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.store.database.database import now_ms
from demo.standin.server import StandIn
from tests.workflows.conftest import ScriptedAgent
from tests.workflows.pull_bot import RunningBot, with_bot


def test_a_fix_that_is_one_push_too_many_by_its_end_is_not_pushed(github: StandIn, tmp_path: Path) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, sha = bot.open({"wrong.txt": "new trouble\n"})
        await bot.quiet()
        threads = bot.at.context.stores.threads
        reached: list[asyncio.Task[None]] = []

        async def reach_the_limit() -> None:
            for at in range(3):
                await threads.pushed(bot.at.repo, f"{at:040x}", run_id=f"run-{at}", number=number, at_ms=now_ms())

        def edit(tree: Path) -> None:
            (tree / "wrong.txt").write_text("")
            reached.append(asyncio.get_running_loop().create_task(reach_the_limit()))

        bot.at.hands.append(ScriptedAgent(edit))
        bot.world.press_button(bot.checks(sha)["test"].id, "fix", "ada")
        await bot.quiet()
        assert len(reached) == 1 and reached[0].done()
        assert bot.head(number) == sha
        comment = bot.comment(number, "fix")
        assert "(`push_limit`). Push limit reached: 3 pushes to this pull request" in comment

    with_bot(github, tmp_path)(work)
