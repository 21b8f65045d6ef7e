"""`python -m demo`: the bot at work against a GitHub stand-in on this machine; `make demo` calls it."""

from __future__ import annotations

import argparse
import sys
import traceback

from bot.cli.exits import BAD_INPUT, NOT_PASSED, OUR_FAULT
from bot.cli.output import complain
from bot.errors import MendbotError, UserError
from demo.main import SCENARIOS, run_demo


def main() -> int:
    """Play one scenario; exit codes are those of `mendbot`."""
    parser = argparse.ArgumentParser(prog="python -m demo", description="show the bot at work on this machine")
    parser.add_argument("--keep", action="store_true", help="leave it running, and print the pages' addresses")
    parser.add_argument("--scenario", choices=list(SCENARIOS), default="issues")
    options = parser.parse_args()
    try:
        return run_demo(options.scenario, keep=options.keep)
    except UserError as error:
        complain(str(error))
        return BAD_INPUT
    except MendbotError as error:
        complain(str(error))
        return OUR_FAULT
    except KeyboardInterrupt:
        complain("interrupted")
        return NOT_PASSED
    except Exception:
        traceback.print_exc()
        return OUR_FAULT


if __name__ == "__main__":
    sys.exit(main())
