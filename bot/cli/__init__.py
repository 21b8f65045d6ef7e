"""The command line. A command reads its arguments, calls the application and prints the result; it lies in a file of
its own."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from cyclopts import App, CycloptsError, MissingArgumentError, Parameter

from bot import VERSION
from bot.cli.agent import agent
from bot.cli.check import check
from bot.cli.completion import completion
from bot.cli.config import config
from bot.cli.doctor import doctor
from bot.cli.examples import add_examples
from bot.cli.exits import BAD_INPUT, NOT_PASSED, OUR_FAULT, PASSED
from bot.cli.fix import fix
from bot.cli.group import group
from bot.cli.history import history
from bot.cli.hook import hook
from bot.cli.init import init
from bot.cli.mcp import mcp
from bot.cli.output import complain
from bot.cli.relay import relay
from bot.cli.replay import replay
from bot.cli.serve import serve
from bot.cli.setup import setup
from bot.cli.worktree import worktree
from bot.config import terminal_language
from bot.errors import MendbotError, UserError
from bot.reports.format.truncate import one_line
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import error_text

COMMANDS = (
    serve,
    check,
    group,
    fix,
    agent,
    worktree,
    hook,
    history,
    config,
    doctor,
    init,
    replay,
    mcp,
    setup,
    relay,
    completion,
)
_EPILOGUE = "Exit codes: 0 done and passed, 1 done and not passed, 2 bad input, 3 a fault of Mendbot."


def _default_in_help(value: object) -> str | None:
    """A default as the help shows it; None for "no value" and for flags, whose help names the default."""
    return None if value is None or isinstance(value, bool) or value in ((), "", Path()) else str(value)


app = App(
    name="mendbot",
    help="A self-hosted GitHub App: it fixes labelled issues in isolated worktrees, and checks pull requests.",
    help_epilogue=_EPILOGUE,
    version=VERSION,
    default_parameter=Parameter(show_default=_default_in_help),
    result_action="return_value",
)
for command in COMMANDS:
    app.command(command)
add_examples(app, _EPILOGUE)


def _without_end(problem: str) -> str:
    """The problem as the beginning of a sentence; a list that was cut short still shows that it was."""
    text = problem.rstrip(", .")
    return f"{text}, …" if problem.endswith("...") else text


def _problem(error: CycloptsError) -> str:
    """The problem on one line; a positional argument is named as the usage names it, not as an option."""
    text = one_line(str(error), 1_000)
    if isinstance(error, MissingArgumentError) and error.argument is not None and not error.keyword:
        name = error.argument.name
        if error.argument.field_info.is_positional:
            text = text.replace(f" {name} ", f" {name.lstrip('-').upper()} ")
    return text


def main(argv: list[str] | None = None) -> int:
    """Run the command of these arguments (of the process by default) and return its exit code."""
    language = terminal_language()
    try:
        code = app(sys.argv[1:] if argv is None else argv, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        command = " ".join(("mendbot", *(error.command_chain or ())))
        complain(t(language, "cli.bad_arguments", problem=_without_end(_problem(error)), command=command))
        return BAD_INPUT
    except MendbotError as error:
        complain(error_text(error, language))
        return BAD_INPUT if isinstance(error, UserError) else OUR_FAULT
    except KeyboardInterrupt:
        complain(t(language, "cli.interrupted"))
        return NOT_PASSED
    except Exception:
        traceback.print_exc()
        complain(t(language, "cli.our_fault"))
        return OUR_FAULT
    return code if isinstance(code, int) else PASSED
