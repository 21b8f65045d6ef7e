"""What set a tree up, and which checks were chosen by which file, in a line each."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model import Language, SetupDone
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import joined, t

_COMMAND_CHARS = 200
_FILE_CHARS = 100
_MAX_SHOWN = 6


def set_up_by(steps: Sequence[SetupDone], language: Language) -> str:
    """The steps that set a tree up and the file that asked for each, then the optional ones that failed; empty where
    nothing was set up."""
    worked = [_step(step, language) for step in steps if step.passed]
    failed = [step for step in steps if step.optional and not step.passed]
    lines = [t(language, "setup.by", steps=joined(language, _most(worked, language)))] if worked else []
    lines += [t(language, "setup.optional", command=_command(step)) for step in failed[:_MAX_SHOWN]]
    return "\n\n".join(lines)


def chosen_by(checks: Sequence[tuple[str, str]], language: Language) -> str:
    """The commands that check the project, each with the file that it was chosen by; empty where none has one."""
    lines = [
        t(language, "chosen", command=inline_code(command, _COMMAND_CHARS), because=inline_code(file, _FILE_CHARS))
        for command, file in checks
        if file
    ]
    return t(language, "chosen.by", checks=joined(language, _most(lines, language))) if lines else ""


def _step(step: SetupDone, language: Language) -> str:
    because = inline_code(step.because, _FILE_CHARS)
    return t(language, "setup.kept" if step.kept else "setup.step", command=_command(step), because=because)


def _command(step: SetupDone) -> str:
    return inline_code(step.command, _COMMAND_CHARS)


def _most(lines: list[str], language: Language) -> list[str]:
    left = len(lines) - _MAX_SHOWN
    return [*lines[:_MAX_SHOWN], t(language, "more", count=left)] if left > 0 else lines
