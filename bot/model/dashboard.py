"""The content of a repository's dashboard issue, and the commands of its checkboxes."""

from __future__ import annotations

from typing import Literal

from bot.model.base import Model
from bot.model.commands import Where

BoxVerb = Literal["cancel", "resume", "retry"]


class BoxCommand(Model):
    """The command of a checkbox: a verb and the thread that it is for."""

    verb: BoxVerb
    where: Where
    number: int

    @property
    def mark(self) -> str:
        """The invisible text behind a checkbox by which its command is recognized."""
        return f"<!-- do {self.verb} {self.where} {self.number} -->"


class DashboardLine(Model):
    """A run, a group of waiting issues, or a pause. `key` names its message, `detail` is untrusted text for it."""

    key: str
    numbers: tuple[int, ...]
    detail: str = ""
    box: BoxCommand | None = None


class FlakyTest(Model):
    """A test that failed and passed on the same commit of the base branch, with its runs there."""

    check: str
    name: str
    failed: int
    runs: int


class DashboardView(Model):
    """What the dashboard shows."""

    queue: tuple[DashboardLine, ...] = ()
    failures: tuple[DashboardLine, ...] = ()
    flaky: tuple[FlakyTest, ...] = ()
    pauses: tuple[DashboardLine, ...] = ()
