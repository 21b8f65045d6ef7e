"""Converts reasons to sentences, in the reader's language or in English for programs."""

from __future__ import annotations

from typing import Any, TypeVar

from bot.errors import MendbotError, Refused, UserError
from bot.model import Language
from bot.model.reasons import Reason, Value
from bot.reports.locale.catalog import t

__all__ = ["english", "english_json", "error_text", "reason_text", "refused", "user_error"]

_Error = TypeVar("_Error", bound=MendbotError)


def reason_text(reason: Reason, language: Language) -> str:
    """Returns the reason as a sentence in that language, without its period.

    It is text, not Markdown: its values come from issues, logs and people, so callers escape all of it."""
    values = {name: _value_text(value, language) for name, value in reason.values.items()}
    return t(language, f"reason.{reason.kind}", **values)


def _value_text(value: Value, language: Language) -> str | int:
    if isinstance(value, tuple):
        return "; ".join(reason_text(reason, language) for reason in value)
    return reason_text(value, language) if isinstance(value, Reason) else value


def english(reason: Reason | None) -> str:
    """Returns the reason in English, for programs; empty for None."""
    return "" if reason is None else reason_text(reason, "en")


def error_text(error: MendbotError, language: Language) -> str:
    """Returns why the error was raised, in that language if the error has a reason."""
    return str(error) if error.because is None else reason_text(error.because, language)


def english_json(value: Any) -> Any:
    """Returns the JSON with every reason in it (`{"kind": …, "values": …}`) replaced by its English text."""
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
    """Returns an error of that kind (UserError by default) that stores its reason, for replies in the reader's
    language."""
    return (kind or UserError)(english(because), because=because)  # type: ignore[return-value]


def refused(reason: str, because: Reason) -> Refused:
    """Returns the error for an action that the policy does not allow; `reason` is its stable code."""
    return Refused(reason, english(because), because=because)
