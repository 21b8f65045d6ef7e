"""What a run would do in a tree before its first change: the steps of its setup and its checks."""

from __future__ import annotations

from bot.model.base import Model
from bot.model.checks import CheckName
from bot.model.reasons import Reason


class PlannedStep(Model):
    """A command of the setup and the file that asks for it."""

    command: str
    because: str
    network: bool
    optional: bool


class PlannedCheck(Model):
    """A check with its command and the file that it was chosen by; without a command, what was looked for."""

    check: CheckName
    command: str = ""
    because: str = ""
    looked_for: tuple[Reason, ...] = ()


class ProjectPlan(Model):
    """The setup and the checks of a tree, as they are found before anything is installed."""

    setup: tuple[PlannedStep, ...] = ()
    checks: tuple[PlannedCheck, ...] = ()
