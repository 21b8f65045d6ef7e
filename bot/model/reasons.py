"""A sentence as values: which one it is and what goes into it, so that whoever tells it can do so in any language."""

from __future__ import annotations

from pydantic import Field

from bot.model.nouns import Group, Model, StopReason


class Reason(Model):
    """`kind` names a sentence of the tables (`rules.reasons`, `reports.locale.reasons`), `values` are what is put into
    it, untrusted; `text` says it in English, as programs are told it."""

    kind: str
    values: dict[str, str | int] = Field(default_factory=dict)
    text: str


class ExplainedStop(StopReason):
    """A stop reason of a run; `said` where its details are no one else's words."""

    said: Reason | None = None

    @classmethod
    def of(cls, reason: str, said: Reason) -> ExplainedStop:
        return cls(reason=reason, details=said.text, said=said)


class ExplainedGroup(Group):
    """A group of a run; `why` are its reasons, in their order."""

    why: tuple[Reason, ...] = ()
