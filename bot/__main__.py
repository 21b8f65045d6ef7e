"""The entry of `mendbot` and `python -m bot`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from bot.cli import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
