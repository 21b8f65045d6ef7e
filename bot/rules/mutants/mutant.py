"""A mutant is one small fault in a source file. It is described for people, and applied by byte offsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

MutantKind = Literal["comparison", "boolean", "arithmetic", "constant", "return", "statement"]
KINDS: tuple[MutantKind, ...] = get_args(MutantKind)

# a text that is no valid Unicode comes back as it was
_ERRORS = "surrogatepass"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: in `path`, `before` is replaced by `after`. `line` counts from 1 and is a changed line.

    `start` and `end` are byte offsets in the UTF-8 text."""

    path: str
    line: int
    kind: MutantKind
    before: str
    after: str
    start: int
    end: int

    def apply(self, text: str) -> str:
        """The text with the fault; `text` is the one that the mutant was made from."""
        source = encoded(text)
        return (source[: self.start] + encoded(self.after) + source[self.end :]).decode("utf-8", _ERRORS)


def encoded(text: str) -> bytes:
    """The text in UTF-8, which the offsets of mutants refer to."""
    return text.encode("utf-8", _ERRORS)


def sample(mutants: Sequence[Mutant], limit: int) -> tuple[Mutant, ...]:
    """At most `limit` of the mutants in their order, spread evenly over lines and then over kinds. Equal input gives
    an equal sample."""
    if len(mutants) <= limit:
        return tuple(mutants)
    by_line: dict[tuple[str, int], list[int]] = {}
    for index, mutant in enumerate(mutants):
        by_line.setdefault((mutant.path, mutant.line), []).append(index)
    chosen: set[int] = set()
    kinds: Counter[MutantKind] = Counter()
    while len(chosen) < limit:
        open_lines = [indexes for indexes in by_line.values() if indexes]
        for indexes in _spread(open_lines, limit - len(chosen)):
            index = min(indexes, key=lambda at: (kinds[mutants[at].kind], at))
            indexes.remove(index)
            kinds[mutants[index].kind] += 1
            chosen.add(index)
    return tuple(mutants[index] for index in sorted(chosen))


def _spread(lines: Sequence[list[int]], limit: int) -> Iterable[list[int]]:
    """All of the lines, or as many as the limit allows, at equal distances."""
    if len(lines) <= limit:
        return lines
    return [lines[step * len(lines) // limit] for step in range(limit)]
