"""Reasons in words: the one place where a reason becomes a sentence, in the reader's language or for programs."""

from __future__ import annotations

from typing import Any, TypeVar

from bot.errors import MendbotError, Refused, UserError
from bot.model import Language
from bot.model.reasons import Reason, Value
from bot.reports.locale.catalog import t

__all__ = ["english", "english_json", "error_text", "reason_text", "refused", "user_error"]

_Error = TypeVar("_Error", bound=MendbotError)


def reason_text(reason: Reason, language: Language) -> str:
    """The reason as a sentence in that language, without its period.

    It is text, not Markdown: its values come from issues, logs and people, so it is escaped as a whole."""
    values = {name: _worded(value, language) for name, value in reason.values.items()}
    return t(language, f"reason.{reason.kind}", **values)


def _worded(value: Value, language: Language) -> str | int:
    if isinstance(value, tuple):
        return "; ".join(reason_text(one, language) for one in value)
    return reason_text(value, language) if isinstance(value, Reason) else value


def english(reason: Reason | None) -> str:
    """The reason as programs get it; empty where there is none."""
    return "" if reason is None else reason_text(reason, "en")


def error_text(error: MendbotError, language: Language) -> str:
    """Why the error was raised, in that language where it has a reason."""
    return str(error) if error.because is None else reason_text(error.because, language)


def english_json(value: Any) -> Any:
    """JSON with every reason in it (`{"kind": …, "values": …}`) as its English text."""
    match value:
        case {"kind": str(), "values": dict()} if len(value) == 2:
            return english(Reason.model_validate(value))
        case dict():
            return {name: english_json(item) for name, item in value.items()}
        case list() | tuple():
            return [english_json(item) for item in value]
        case _:
            return value


def user_error(because: Reason, kind: type[_Error] | None = None) -> _Error:
    """An error of that kind (UserError by default) that keeps its reason, for replies in the reader's language."""
    return (kind or UserError)(english(because), because=because)  # type: ignore[return-value]


def refused(reason: str, because: Reason) -> Refused:
    """What the policy does not allow, with its stable code."""
    return Refused(reason, english(because), because=because)
