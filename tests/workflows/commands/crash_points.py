"""A bot that dies at a chosen point of a command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from bot.app.build import jobs
from bot.store.database.database import Database
from bot.store.inbox.commands import Commands
from tests.workflows.commands.command_scenario import CommandScenario
from tests.workflows.conftest import NAME

DONE = ["eyes", "rocket"]


class Killed(BaseException):
    """The process ends here: nothing catches it."""


class Mortal(Commands):
    """The record of commands, whose process is killed once for each before it is written."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.died: set[str] = set()

    async def finish(self, id: str, outcome: str) -> None:  # noqa: A002  # as in the store
        if id not in self.died:
            self.died.add(id)
            raise Killed
        await super().finish(id, outcome)


def mortal(thread: CommandScenario) -> None:
    context = thread.at.context
    thread.at.context = replace(context, stores=replace(context.stores, commands=Mortal(thread.at.database)))


async def settle_and_group(thread: CommandScenario) -> None:
    await thread.work("settle", "settle_pull")
    await thread.gather()


async def struck(
    thread: CommandScenario,
    number: int,
    text: str,
    meanwhile: Callable[[CommandScenario], Awaitable[object]] = settle_and_group,
) -> list[str]:
    """The reactions to a comment each of whose commands is obeyed, killed, and begun again; `meanwhile` is what the
    rest of the worker does in between."""
    comment = thread.world.comment(NAME, number, text, "ada")
    await thread.hear()
    (job,) = [job for job in thread.at.jobs if job.kind == "command"]
    thread.at.jobs.remove(job)
    step = jobs(thread.at.context)["command"][1]
    for _ in range(text.count("/mendbot")):
        with pytest.raises(Killed):
            await step(job.args, 0)
        await meanwhile(thread)
    assert (await step(job.args, 0)).done
    return thread.reactions(number, comment)
