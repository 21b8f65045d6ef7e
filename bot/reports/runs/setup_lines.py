"""How a working tree was set up, and which file determined each check, in a line each."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model import Language, SetupDone
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import joined, t

_COMMAND_CHARS = 200
_FILE_CHARS = 100
_MAX_SHOWN = 6


def set_up_by(steps: Sequence[SetupDone], language: Language) -> str:
    """Returns the steps of the setup with the file that required each, then the optional ones that failed.

    Empty if nothing was set up."""
    passed = [_step(step, language) for step in steps if step.passed]
    failed = [step for step in steps if step.optional and not step.passed]
    lines = [t(language, "setup.by", steps=joined(language, _first_items(passed, language)))] if passed else []
    lines += [t(language, "setup.optional", command=_command(step)) for step in failed[:_MAX_SHOWN]]
    return "\n\n".join(lines)


def chosen_by(checks: Sequence[tuple[str, str]], language: Language) -> str:
    """Returns the commands that check the project, each with the file that determined it; empty if none has a file."""
    lines = [
        t(language, "chosen", command=inline_code(command, _COMMAND_CHARS), because=inline_code(file, _FILE_CHARS))
        for command, file in checks
        if file
    ]
    return t(language, "chosen.by", checks=joined(language, _first_items(lines, language))) if lines else ""


def _step(step: SetupDone, language: Language) -> str:
    because = inline_code(step.because, _FILE_CHARS)
    return t(language, "setup.kept" if step.kept else "setup.step", command=_command(step), because=because)


def _command(step: SetupDone) -> str:
    return inline_code(step.command, _COMMAND_CHARS)


def _first_items(lines: list[str], language: Language) -> list[str]:
    more_count = len(lines) - _MAX_SHOWN
    return [*lines[:_MAX_SHOWN], t(language, "more", count=more_count)] if more_count > 0 else lines
