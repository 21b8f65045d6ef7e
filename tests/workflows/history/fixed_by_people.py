"""Checks that people broke and fixed, for the tests of what is learned of that."""

from __future__ import annotations

from typing import Any

from bot.model import KnownError
from bot.rules.failures.errors import fingerprints
from tests.workflows.conftest import NAME
from tests.workflows.pull_bot import RunningBot

BROKEN = {"wrong.txt": "it is broken\n"}

MENDED = {"wrong.txt": ""}


def error(text: str = "it is broken") -> str:
    (found,) = fingerprints(f"wrong.txt:1: error: {text}\n")
    return found


async def known(bot: RunningBot, text: str = "it is broken") -> KnownError | None:
    return await bot.at.context.stores.history.by_error(error(text), repo=NAME)


async def pushed(bot: RunningBot, files: dict[str, Any], **more: Any) -> str:
    sha = bot.push(files, **more)
    await bot.quiet()
    return sha


async def mended(bot: RunningBot, text: str = "it is broken", branch: str = "feature") -> tuple[int, str, str]:
    """A pull request with that failure, and bea's push after which it is gone."""
    number, red = bot.open({"wrong.txt": f"{text}\n"}, branch=branch)
    await bot.quiet()
    return number, red, await pushed(bot, MENDED, by="bea", to=branch)
