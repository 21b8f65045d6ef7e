"""What all events have in common. An event is written once and read as it was written: one type for both ways."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.model.base import CamelModel
from bot.model.checks import Classification
from bot.model.runs import Phase

_NOT_STORED = datetime.min.replace(tzinfo=UTC)


class Event(CamelModel):
    """One line of a run's story (REQ-RUN-007). `id` grows over the whole database; it and `ts` are given by the store.

    What a kind of event has beside these fields is its `data`; a field that nobody set is not in it."""

    id: int = 0
    ts: datetime = _NOT_STORED
    type: str
    phase: Phase | None = None
    iteration: int | None = None
    classification: Classification | None = None

    @property
    def key(self) -> str:
        """What the event is about, unique within its run: appended twice, it is written once."""
        return self.type

    def data(self) -> dict[str, Any]:
        """The fields of this kind of event, as JSON."""
        unset = type(self).model_fields.keys() - self.model_fields_set
        return self.model_dump(mode="json", by_alias=True, exclude={*ENVELOPE, *unset})

    def as_json(self) -> dict[str, Any]:
        """The event as the HTTP API shows it; its reasons are still values."""
        shared = self.model_dump(mode="json", include={*ENVELOPE}, exclude_none=True)
        return {**shared, "data": self.data()}


ENVELOPE = frozenset(Event.model_fields)
