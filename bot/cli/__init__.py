"""The commands, one verb each and thin: read the arguments, call the app, print. Exit codes are the contract's:
0 done and passed, 1 done and not passed, 2 bad input, 3 our fault."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Literal

from cyclopts import App, CycloptsError, Parameter

from bot.cli import local
from bot.cli.config import config
from bot.cli.exits import BAD_INPUT, NOT_PASSED, OUR_FAULT, PASSED
from bot.cli.fix import fix
from bot.cli.history import history
from bot.cli.hook import hook
from bot.cli.numbers import Number
from bot.cli.output import complain
from bot.config import terminal_language
from bot.errors import MendbotError, UserError
from bot.reports.format.truncate import one_line
from bot.reports.locale.reasons import error_text


def _worth_showing(value: object) -> str | None:
    """A default as help shows it; what means "nothing given", or is told in the option's own words, is not shown."""
    return None if value is None or isinstance(value, bool) or value in ((), "", Path()) else str(value)


app = App(
    name="mendbot",
    help="A self-hosted GitHub App: it fixes labelled issues in isolated worktrees, and checks pull requests.",
    help_epilogue="Exit codes: 0 done and passed, 1 done and not passed, 2 bad input, 3 a fault of Mendbot.",
    version="0.1.0",
    default_parameter=Parameter(show_default=_worth_showing),
    result_action="return_value",
)


@app.command
def serve(
    *,
    host: str = "127.0.0.1",
    port: Number | None = None,
    role: Literal["all", "web", "worker"] = "all",
) -> int:
    """Receive webhooks and do the work.

    Parameters
    ----------
    host
        the address to listen on; any but loopback needs a TLS proxy
    port
        the port to listen on (PORT, else 3000)
    role
        web or worker alone need Postgres
    """
    from bot.app.server import serve as serve_app
    from bot.config import load_settings

    settings = load_settings(serving=port is None)
    if role != "all":
        raise UserError(f"--role {role} needs several processes on one Postgres, which this version does not offer yet")
    return serve_app(settings, host, port if port is not None else settings.port)


for command in (local.check, local.group, fix):
    app.command(command)
for section in (local.worktree, hook, history, config):
    app.command(section)


def main(argv: list[str] | None = None) -> int:
    """Run one command; the exit code is returned, so that callers may test it."""
    try:
        code = app(sys.argv[1:] if argv is None else argv, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        complain(f"{one_line(str(error), 1_000).rstrip(', .')}; try `mendbot --help`")
        return BAD_INPUT
    except UserError as error:
        complain(error_text(error, terminal_language()))
        return BAD_INPUT
    except MendbotError as error:
        complain(error_text(error, terminal_language()))
        return OUR_FAULT
    except KeyboardInterrupt:
        complain("interrupted")
        return NOT_PASSED
    except Exception:
        traceback.print_exc()
        print("mendbot: this is a fault of Mendbot; please report it with the lines above", file=sys.stderr)
        return OUR_FAULT
    return code if isinstance(code, int) else PASSED
