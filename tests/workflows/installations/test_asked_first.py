"""Pull requests of a newly installed repository wait for a configuration, the operator or a command (spec H)."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import POLICY_PATH
from demo.standin.server import StandIn
from tests.workflows.conftest import NAME
from tests.workflows.installations.new_repository import NEW, create, open_pull
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def checked(bot: RunningBot, sha: str) -> bool:
    return bool(bot.world.check_runs(NEW, sha))


@pytest.mark.parametrize("text", ["", "checks: { test: { command: 'true' } }\n", "no_such_key: 1\n"])
def test_nothing_is_checked_until_there_is_a_configuration_of_whatever_content(do: WithBot, text: str) -> None:
    """H-4."""

    async def work(bot: RunningBot) -> None:
        create(bot)
        _, first = open_pull(bot, "one")
        await bot.quiet()
        assert not checked(bot, first)
        assert "newly installed" in (await bot.told())
        bot.push({POLICY_PATH: text}, to="main", repo=NEW)
        await bot.quiet()
        assert checked(bot, first)  # without an event of its own
        _, second = open_pull(bot, "two")
        await bot.quiet()
        assert checked(bot, second)
        bot.push({POLICY_PATH: None}, to="main", repo=NEW)  # it was enabled once
        _, third = open_pull(bot, "three")
        await bot.quiet()
        assert checked(bot, third)

    do(work)


def test_the_operator_may_have_all_checked(do: WithBot) -> None:
    """H-4."""

    async def work(bot: RunningBot) -> None:
        create(bot)
        _, sha = open_pull(bot, "one")
        await bot.quiet()
        assert checked(bot, sha)

    do(work, pull_requests="all")


def test_a_person_with_write_access_enables_the_repository_by_a_command(do: WithBot) -> None:
    """H-4."""

    async def work(bot: RunningBot) -> None:
        create(bot)
        number, first = open_pull(bot, "one")
        bot.world.create_user("eve")
        bot.world.comment(NEW, number, "/mendbot check", "eve")
        await bot.quiet()
        _, second = open_pull(bot, "two")
        await bot.quiet()
        assert not checked(bot, first) and not checked(bot, second)
        bot.world.comment(NEW, number, "/mendbot check", "ada")
        await bot.quiet()
        assert checked(bot, first) and checked(bot, second)
        _, third = open_pull(bot, "three")
        await bot.quiet()
        assert checked(bot, third)

    do(work)


def test_labels_work_at_once(do: WithBot) -> None:
    """H-4."""

    async def work(bot: RunningBot) -> None:
        repo = create(bot)
        number = bot.world.create_issue(NEW, "It is wrong", "in `wrong.txt`", author="ada")
        bot.world.add_label(NEW, number, "auto-fix", "ada")
        await bot.quiet()
        waiting, _ = await bot.at.context.stores.candidates.waiting(repo, number)
        assert waiting

    do(work, quiet_seconds=600.0)


def test_a_repository_that_was_installed_before_is_checked_as_ever(do: WithBot) -> None:
    """H-4."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        bot.push({POLICY_PATH: None}, to="main")
        _, sha = bot.open({"notes.txt": "hello\n"})
        create(bot)  # another one
        await bot.quiet()
        assert bot.world.check_runs(NAME, sha)

    do(work)


def test_a_renamed_repository_is_found_by_its_id(do: WithBot) -> None:
    """H-4. Here the record is what gets another name."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        create(bot)
        await bot.quiet()
        rename = "UPDATE reports SET repo = 'octo/before' WHERE target = 'installed'"
        await bot.at.database.write(lambda connection: connection.exec_driver_sql(rename))
        _, sha = open_pull(bot, "one")
        _, earlier = bot.open({"notes.txt": "hello\n"})
        await bot.quiet()
        assert not checked(bot, sha) and bot.world.check_runs(NAME, earlier)
        states = {name: each.digest for name, each in await bot.at.context.stores.reports.at_target("installed")}
        assert states == {"octo/before": "asked", NEW: "asked", NAME: "earlier"}

    do(work)
