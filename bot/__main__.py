"""The entry of `mendbot` and `python -m bot`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code. The hooks run before any slow import (REQ-RA-306)."""
    if sys.argv[1:3] == ["hook", "pre-tool"]:
        from bot.agent.hook import main as hook

        hook()
    if sys.argv[1:3] == ["hook", "post-tool"]:
        from bot.agent.hook_post import main as hook_post

        hook_post()
    from bot.cli import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
