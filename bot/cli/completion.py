"""`mendbot completion`: prints the script with which a shell completes commands and options."""

from __future__ import annotations

from typing import Literal

from bot.cli.exits import PASSED
from bot.cli.output import say


def completion(shell: Literal["bash", "zsh", "fish"]) -> int:
    """Print the script that completes commands and options in a shell.

    Parameters
    ----------
    shell
        the shell that is to read it
    """
    from bot.cli import app

    say(app.generate_completion(prog_name="mendbot", shell=shell))
    return PASSED
