"""Every command as a literal table: its verb and the function that does it, one file a verb."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from bot.workflows.commands.apply import apply
from bot.workflows.commands.approve import ok_to_test
from bot.workflows.commands.cancel import cancel
from bot.workflows.commands.check import check
from bot.workflows.commands.explain import explain
from bot.workflows.commands.fix import fix
from bot.workflows.commands.group import group
from bot.workflows.commands.help import show_help
from bot.workflows.commands.history import history
from bot.workflows.commands.pause import pause
from bot.workflows.commands.resolved import resolved
from bot.workflows.commands.resume import resume
from bot.workflows.commands.retest import retest
from bot.workflows.commands.retry import retry
from bot.workflows.commands.status import status
from bot.workflows.commands.types import CommandCall, CommandResult
from bot.workflows.context import Context

Command = Callable[[Context, CommandCall], Awaitable[CommandResult]]

COMMANDS: Mapping[str, Command] = {
    "fix": fix,
    "check": check,
    "retest": retest,
    "retry": retry,
    "cancel": cancel,
    "status": status,
    "group": group,
    "apply": apply,
    "explain": explain,
    "history": history,
    "resolved": resolved,
    "ok-to-test": ok_to_test,
    "pause": pause,
    "resume": resume,
    "help": show_help,
}
"""A test holds it against `rules.commands.verbs.VERBS`."""
