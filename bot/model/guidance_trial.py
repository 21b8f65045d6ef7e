"""The trial of guidance: what became of runs whose agents got guidance, and of runs whose agents did not."""

from __future__ import annotations

from bot.model.base import CamelModel, Model


class TriedGuidance(Model):
    """A known error in the brief of a coding agent, or withheld from it; `use_count` identifies its resolution."""

    id: int
    use_count: int


class GuidanceTrial(CamelModel):
    """The runs of both groups. `difference` is the share that passed with guidance minus the share without, and `low`
    and `high` are its 95 % interval; None while a group is empty."""

    shown: int = 0
    shown_passed: int = 0
    withheld: int = 0
    withheld_passed: int = 0
    difference: float | None = None
    low: float | None = None
    high: float | None = None
