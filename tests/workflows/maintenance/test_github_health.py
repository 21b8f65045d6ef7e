"""Whether GitHub answers and whether it takes the App's key: what is seen of it, and that nobody outside can ask."""

from __future__ import annotations

import pytest

from bot.reports.locale.reasons import english
from bot.workflows.maintenance.github_health import ANSWERS, KEY_FITS, ask_github
from tests.workflows.commands.command_scenario import AtDesk
from tests.workflows.conftest import Harness


def test_a_key_that_fits_is_seen(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        assert [english(at.context.github_health.github), english(at.context.github_health.app)] == [
            "not asked yet"
        ] * 2
        await ask_github(at.context)
        assert (at.context.github_health.github, at.context.github_health.app) == (ANSWERS, KEY_FITS)
        assert at.context.github_health.at is not None

    at_desk(work)


@pytest.mark.parametrize(("status", "words"), [(401, "private key"), (404, "APP_ID"), (403, "refused")])
def test_a_key_or_app_that_does_not_fit_is_told_with_the_remedy(at_desk: AtDesk, status: int, words: str) -> None:
    async def work(at: Harness) -> None:
        await ask_github(at.context)
        at.github.world.faults.add("GET", "/app", status=status, times=9)
        await ask_github(at.context)
        assert at.context.github_health.github == ANSWERS and english(ANSWERS) == "answers"
        assert words in english(at.context.github_health.app) and at.context.github_health.app != KEY_FITS

    at_desk(work)


def test_what_was_known_of_the_key_stands_while_github_is_away(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        await ask_github(at.context)
        at.github.world.faults.add("GET", "/app", status=502, times=9)
        await ask_github(at.context)
        assert (english(at.context.github_health.github), at.context.github_health.app) == ("does not answer", KEY_FITS)

    at_desk(work)
