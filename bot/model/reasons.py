"""A reason as a value: its kind and its fields. The message catalog turns it into text, in either language."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from pydantic import Field

from bot.model.base import Model

Language = Literal["en", "ko"]
Value: TypeAlias = "str | int | Reason | tuple[Reason, ...]"


class Reason(Model):
    """`kind` names the message `reason.KIND`; `values` are its fields, untrusted. A field may hold other reasons."""

    kind: str
    values: dict[str, Value] = Field(default_factory=dict)

    def map_text(self, change: Callable[[str], str]) -> Reason:
        """The reason with every text in it changed, for instance masked."""

        def mapped(value: Value) -> Value:
            if isinstance(value, tuple):
                return tuple(reason.map_text(change) for reason in value)
            if isinstance(value, Reason):
                return value.map_text(change)
            return change(value) if isinstance(value, str) else value

        return Reason(kind=self.kind, values={name: mapped(value) for name, value in self.values.items()})

    def __hash__(self) -> int:
        return hash((self.kind, tuple(sorted(self.values.items(), key=lambda item: item[0]))))


def make_reason(kind: str, **values: Value) -> Reason:
    """The reason of that kind. The message `reason.KIND` of the catalog names its fields; a test compares them."""
    return Reason(kind=kind, values=values)


def quoted(text: str) -> Reason:
    """Somebody else's words: GitHub's, git's, an operating system's or an agent's."""
    return make_reason("quoted", text=text)


def listed(reasons: Iterable[Reason]) -> Reason:
    """The reasons as one, with commas between them."""
    first, *others = (*reasons,) or (quoted(""),)
    for reason in others:
        first = make_reason("listed", first=first, next=reason)
    return first


class ExplainedStop(Model):
    """A stop reason of a run: its name, and the details as a value."""

    reason: str
    details: Reason

    @classmethod
    def of(cls, reason: str, details: Reason) -> ExplainedStop:
        return cls(reason=reason, details=details)

    def map_text(self, change: Callable[[str], str]) -> ExplainedStop:
        """The stop reason with every text in its details changed, for instance masked."""
        return ExplainedStop(reason=self.reason, details=self.details.map_text(change))
