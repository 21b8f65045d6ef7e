"""What a measurement says: rows with a value, its reference and its goal, and how they are printed.
A ratio compares two values of the same round, so that a slow minute of the machine falls on both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Literal

Bound = Literal["at least", "at most"]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a result. `goal` is None for what is shown for information only."""

    what: str
    value: float
    unit: str = ""
    bound: Bound = "at most"
    goal: float | None = None

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.value >= self.goal if self.bound == "at least" else self.value <= self.goal


@dataclass(frozen=True, slots=True)
class Result:
    """One benchmark's rows, ratios first; `notes` are sentences that belong beside them."""

    name: str
    rounds: int
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rounds": self.rounds,
            "rows": [asdict(row) | {"met": row.met} for row in self.rows],
            "notes": list(self.notes),
        }


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile: a value that was really measured; NaN for no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered), max(1, math.ceil(share * len(ordered)))) - 1] if ordered else math.nan


def ratio_row(what: str, ours: Sequence[float], theirs: Sequence[float], bound: Bound, goal: float) -> Row:
    """The median over the rounds of ours : theirs."""
    return Row(what, median(a / b for a, b in zip(ours, theirs, strict=True)), "×", bound, goal)


def number(value: float) -> str:
    """Three significant digits, thousands apart."""
    if math.isnan(value) or value == 0:
        return "0" if value == 0 else "-"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, digits):,.{digits}f}"


def as_table(result: Result) -> str:
    """The result as a Markdown section."""
    lines = [f"### {result.name}", "", f"Medians of {result.rounds} rounds.", "", "| what | measured | goal | |"]
    lines.append("|---|---:|---|---|")
    for row in result.rows:
        goal = "" if row.goal is None else f"{row.bound} {number(row.goal)} {row.unit}".rstrip()
        verdict = {None: "", True: "met", False: "**missed**"}[row.met]
        lines.append(f"| {row.what} | {number(row.value)} {row.unit} | {goal} | {verdict} |".replace("  ", " "))
    return "\n".join([*lines, "", *(f"- {note}" for note in result.notes), *([""] if result.notes else [])])
