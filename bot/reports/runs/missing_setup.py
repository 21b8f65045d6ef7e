"""The text for a check that could not run because the project is not set up: the reason and the command to run."""

from __future__ import annotations

from bot.model import CheckResult, Language, NeededSetup, ValidationStep
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import t

_COMMAND_CHARS = 300
_NAME_CHARS = 100


def setup_sentence(needed: NeededSetup, language: Language) -> str:
    """Returns the reason and the remedy, two sentences of Markdown that are readable as plain text too."""
    names = {"what": inline_code(needed.what, _NAME_CHARS), "place": inline_code(needed.place, _NAME_CHARS)}
    why = t(language, f"needed.{needed.because}", **names)
    return f"{why} {t(language, 'needed.setup', command=inline_code(needed.command, _COMMAND_CHARS))}"


def not_set_up(result: CheckResult | ValidationStep) -> bool:
    """Returns whether a command was not started because the project has to be set up first."""
    return result.could_not_run is not None and result.could_not_run.setup is not None
