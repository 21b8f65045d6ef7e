"""Every command as a literal table: its verb and the function that does it, one file a verb."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from bot.workflows.commands.types import CommandCall, CommandResult
from bot.workflows.commands.verbs.apply import apply
from bot.workflows.commands.verbs.approve import ok_to_test
from bot.workflows.commands.verbs.cancel import cancel
from bot.workflows.commands.verbs.check import check
from bot.workflows.commands.verbs.explain import explain
from bot.workflows.commands.verbs.fix import fix
from bot.workflows.commands.verbs.group import group
from bot.workflows.commands.verbs.help import show_help
from bot.workflows.commands.verbs.history import history
from bot.workflows.commands.verbs.pause import pause
from bot.workflows.commands.verbs.resolved import resolved
from bot.workflows.commands.verbs.resume import resume
from bot.workflows.commands.verbs.retest import retest
from bot.workflows.commands.verbs.retry import retry
from bot.workflows.commands.verbs.status import status
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
