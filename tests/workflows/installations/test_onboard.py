"""A newly installed repository gets one onboarding issue, whatever crashes, closes it or installs the App again."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import POLICY_PATH
from bot.workflows.installations.onboard import KEY, NewRepository, onboard
from demo.standin.server import StandIn
from tests.workflows.installations.new_repository import NEW, create, titles
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot

TITLE = "Set up Mendbot"


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def test_the_issue_shows_what_was_found_and_the_file_and_is_opened_once(do: WithBot) -> None:
    """H-4."""

    async def work(bot: RunningBot) -> str:
        repo = create(bot)
        await bot.quiet()
        (issue,) = bot.world.issues(NEW)
        assert (issue.title, issue.labels) == (TITLE, ())
        bot.world.close_issue(NEW, issue.number, "ada")
        bot.world.uninstall_app(NEW)
        await bot.quiet()
        bot.world.install_app(NEW)
        await bot.quiet()
        args = NewRepository(repo=repo).model_dump(mode="json")
        assert (await onboard(bot.at.context, args)).done
        assert titles(bot) == [TITLE]
        assert not (bot.at.context.settings.home / "pulls" / "octo" / "new" / KEY).exists()
        return issue.body or ""

    body = do(work)
    assert body.startswith("<!-- mendbot:onboarding -->\n")
    assert "| `test` | `npm test` | `package.json` |" in body
    assert '#   test: { command: "npm test" } # package.json' in body
    assert f"/{NEW}/new/main?filename={POLICY_PATH}" in body


def test_a_repository_with_a_configuration_or_without_issues_gets_none(do: WithBot) -> None:
    """H-4."""

    async def work(bot: RunningBot) -> list[str]:
        create(bot, {POLICY_PATH: ""})
        bot.world.create_repo("octo/closed", {"a": ""}, installed=False)
        bot.world.disable_issues("octo/closed")
        bot.world.install_app("octo/closed")
        await bot.quiet()
        return [*titles(bot), *(issue.title for issue in bot.world.issues("octo/closed"))]

    assert do(work) == []


def test_after_a_crash_before_it_was_recorded_the_issue_is_found(do: WithBot) -> None:
    """H-4."""

    async def work(bot: RunningBot) -> list[str]:
        create(bot)
        await bot.quiet()
        await bot.forget()
        bot.world.uninstall_app(NEW)
        bot.world.install_app(NEW)
        await bot.quiet()
        return titles(bot)

    assert do(work) == [TITLE]


def test_github_being_away_delays_it_and_a_lost_answer_opens_no_second(do: WithBot) -> None:
    """H-4."""

    async def work(bot: RunningBot) -> list[str]:
        bot.world.faults.add("POST", f"/repos/{NEW}/issues", status=502, after_effect=True)
        bot.world.faults.add("GET", f"/repos/{NEW}", status=503, times=4)
        create(bot)
        await bot.quiet()
        return titles(bot)

    assert do(work) == [TITLE]


def test_the_language_is_the_operators(do: WithBot) -> None:
    """H-4."""

    async def work(bot: RunningBot) -> list[str]:
        create(bot)
        await bot.quiet()
        return titles(bot)

    assert do(work, language="ko") == ["Mendbot 설정하기"]
