"""The picture of a group: its issues in a column, with an arc for each reason why two of them belong together.

Issues that share a key, such as a file, have no reasons in pairs: their arcs lead to the key, the first row."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bot.model import Issue
from bot.model.reasons import Reason

ROW, TOP, RADIUS = 30, 20, 5
LABELS_WIDTH = 380
MAX_LABEL = 52
"""The maximal width of a label in characters; Korean ones count as two."""
_MIN_DEPTH, _MAX_DEPTH = 28, 230
_PAD = 22
_BULGE = 0.75
"""The share of its control points' distance that a symmetric cubic curve reaches in its middle."""
_PARALLEL = 18
_WEAK = "group.words"
"""Words alone are the least certain reason; their arc is dashed."""
KEY = 0
"""The place of the shared key among the ends of arcs: no issue has this number."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A reason why two issues belong together, or why one belongs to the key (`low` is KEY)."""

    number: int
    low: int
    high: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Arc:
    """An edge in the picture; `x` and `y` are the place of its number."""

    edge: Edge
    path: str
    x: float
    y: float
    is_weak: bool


@dataclass(frozen=True, slots=True)
class Node:
    """An issue, or the shared key; the label of a key without a name is empty."""

    label: str
    y: int
    is_key: bool


@dataclass(frozen=True, slots=True)
class GroupPicture:
    """The picture: sizes in pixels of its own coordinates. `notes` are the reasons without an arc."""

    width: int
    height: int
    x: int
    nodes: tuple[Node, ...]
    arcs: tuple[Arc, ...]
    key: Reason | None
    notes: tuple[Reason, ...]


def draw(issues: Sequence[Issue], reasons: Sequence[Reason]) -> GroupPicture:
    """The picture of a group with these issues; the same for each order of them."""
    ordered = sorted(issues, key=lambda issue: issue.number)
    numbers = [issue.number for issue in ordered]
    key = next((reason for reason in reasons if _is_key(reason)), None)
    edges = _pairs(numbers, reasons) if key is None else _to_key(numbers, key, reasons)
    shown = {id(edge.reason) for edge in edges} | {id(key)}
    rows = {number: index for index, number in enumerate(numbers if key is None else [KEY, *numbers])}
    widest = max((abs(rows[edge.high] - rows[edge.low]) for edge in edges), default=1)
    depth = min(_MAX_DEPTH, _MIN_DEPTH + 26 * (widest - 1))
    parallel = max(Counter((edge.low, edge.high) for edge in edges).values(), default=1) - 1
    x = round(_PAD + _BULGE * (depth + _PARALLEL * parallel))
    nodes = [] if key is None else [Node(_cut(str(key.values.get("key", ""))), TOP, True)]
    nodes += [Node(_cut(f"#{one.number} {one.title}"), TOP + rows[one.number] * ROW, False) for one in ordered]
    return GroupPicture(
        width=x + LABELS_WIDTH,
        height=TOP + len(rows) * ROW - ROW // 3,
        x=x,
        nodes=tuple(nodes),
        arcs=tuple(_arcs(edges, rows, x, (depth - _MIN_DEPTH) / max(1, widest - 1))),
        key=key,
        notes=tuple(reason for reason in reasons if id(reason) not in shown),
    )


def _is_key(reason: Reason) -> bool:
    return reason.kind.startswith(("group.shared.", "group.unknown.")) or reason.kind == "group.together"


def _pairs(numbers: Sequence[int], reasons: Sequence[Reason]) -> list[Edge]:
    """An edge for each reason that names two of the issues."""
    pairs = [(reason, reason.values.get("low"), reason.values.get("high")) for reason in reasons]
    known = [(reason, low, high) for reason, low, high in pairs if low in numbers and high in numbers and low != high]
    return [
        Edge(index, low, high, reason)
        for index, (reason, low, high) in enumerate(known, 1)
        if isinstance(low, int) and isinstance(high, int)
    ]


def _to_key(numbers: Sequence[int], key: Reason, reasons: Sequence[Reason]) -> list[Edge]:
    """An edge from each issue to the key, with the place in the issue that the key comes from."""
    places = {reason.values.get("number"): reason for reason in reasons if reason.kind.startswith("group.from.")}
    return [Edge(index, KEY, number, places.get(number, key)) for index, number in enumerate(numbers, 1)]


def _arcs(edges: Sequence[Edge], rows: dict[int, int], x: int, step: float) -> list[Arc]:
    arcs = []
    drawn: Counter[tuple[int, int]] = Counter()
    for edge in edges:
        first, last = sorted((rows[edge.low], rows[edge.high]))
        top, bottom = TOP + first * ROW, TOP + last * ROW
        reach = round(_MIN_DEPTH + step * (last - first - 1) + _PARALLEL * drawn[edge.low, edge.high], 1)
        drawn[edge.low, edge.high] += 1
        path = f"M{x} {top}C{x - reach} {top} {x - reach} {bottom} {x} {bottom}"
        arcs.append(Arc(edge, path, round(x - _BULGE * reach, 1), (top + bottom) / 2, edge.reason.kind == _WEAK))
    return arcs


def _cut(text: str) -> str:
    """The text within MAX_LABEL, with its end replaced by `…` if it is longer."""
    width = 0
    for index, character in enumerate(text):
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if width > MAX_LABEL:
            return text[: index - 1] + "…"
    return text
