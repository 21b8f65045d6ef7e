"""How many errors each attempt fixed, left and introduced, as a small chart of stacked bars (REQ-STOP-006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.model.report_views import Attempt

HEIGHT, BAR, STEP, BASE = 96, 28, 56, 24
MAX_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Part:
    """One colour of a bar: `kind` is `fixed`, `remaining` or `introduced`."""

    kind: str
    y: float
    height: float
    count: int


@dataclass(frozen=True, slots=True)
class Column:
    attempt: int
    x: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    width: int
    height: int
    baseline: float
    columns: tuple[Column, ...]


def draw(attempts: Sequence[Attempt]) -> Chart | None:
    """Returns the chart of the last 20 checked attempts, whose fixed errors stand below the line and the others above.

    None where no attempt was compared, or none had an error."""
    checked = [attempt for attempt in attempts if attempt.error_delta is not None][-MAX_ATTEMPTS:]
    counts = [_counts(attempt) for attempt in checked]
    above = max((remaining + introduced for _, remaining, introduced in counts), default=0)
    below = max((fixed for fixed, _, _ in counts), default=0)
    if not above + below:
        return None
    unit = HEIGHT / (above + below)
    baseline = 4 + above * unit
    columns = []
    for number, (attempt, (fixed, remaining, introduced)) in enumerate(zip(checked, counts, strict=True)):
        parts = (
            Part("introduced", baseline - (remaining + introduced) * unit, introduced * unit, introduced),
            Part("remaining", baseline - remaining * unit, remaining * unit, remaining),
            Part("fixed", baseline, fixed * unit, fixed),
        )
        columns.append(Column(attempt.attempt, 8 + number * STEP, tuple(part for part in parts if part.count)))
    return Chart(16 + len(columns) * STEP, HEIGHT + BASE + 8, baseline, tuple(columns))


def _counts(attempt: Attempt) -> tuple[int, int, int]:
    delta = attempt.error_delta
    assert delta is not None
    return len(delta.fixed), len(delta.remaining), len(delta.introduced)
