"""What a hunk holds once its markers are read: the lines it expects in the file, and those it adds between them.
Lines count by how well they identify a place, and dots may stand for lines that a model left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from bot.rules.patches.diff_parser import Hunk

TELLING = 4
"""The weight of a line that identifies a place."""
_ELIDED = re.compile(r"(?:#|//|/\*|<!--|--|;|\(|\[|\{|\s)*(?:\.\.\.|…)(?:\s.*|[)\]}*/>-]*)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that the hunk expects in the file: context, or to be removed. `text` has no marker.

    An elided one (`...`) stands for any number of lines."""

    text: str
    removed: bool
    elided: bool = False

    @property
    def key(self) -> str:
        return squeezed(self.text)

    @property
    def weight(self) -> int:
        """What its absence costs: braces and blank lines say little about a place."""
        if self.elided:
            return 0
        key = self.key
        letters = sum(map(str.isalnum, key))
        return 1 if letters < 3 else 2 if len(key) < 8 else TELLING


@dataclass(frozen=True)
class Body:
    """A hunk's old lines, and the added ones by the old line before which they stand (its length: after the last)."""

    old: tuple[Line, ...]
    added: Mapping[int, tuple[str, ...]]

    @cached_property
    def weights(self) -> tuple[int, ...]:
        return tuple(line.weight for line in self.old)

    @cached_property
    def limit(self) -> int:
        """The highest cost: half of the context has to be there."""
        return sum(weight for line, weight in zip(self.old, self.weights, strict=True) if not line.removed) // 2

    def elide(self) -> Body:
        """The same, with context lines such as `# ... unchanged ...` read as a gap."""
        marked = (replace(line, elided=not line.removed and is_elision(line.text)) for line in self.old)
        return Body(tuple(marked), self.added)


def squeezed(text: str) -> str:
    """A line without any white space: what has to agree for two lines to be the same."""
    return "".join(text.split())


def is_elision(text: str) -> bool:
    """Whether the line is dots, bare or in a comment, as models write for what they leave out."""
    return bool(_ELIDED.fullmatch(text.strip()))


def body_of(hunk: Hunk) -> Body:
    """The hunk's lines without their markers and carriage returns; notes on missing newlines are left out.

    So are blank lines without a marker at either end: they may be the diff's own."""
    old: list[Line] = []
    added: dict[int, tuple[str, ...]] = {}
    lines = [raw.removesuffix("\r") for raw in hunk.lines]
    full = [at for at, line in enumerate(lines) if line]
    for line in lines[full[0] : full[-1] + 1] if full else ():
        match line[:1]:
            case "+":
                added[len(old)] = (*added.get(len(old), ()), line[1:])
            case "\\":
                continue
            case mark:
                old.append(Line(line[1:], mark == "-"))
    return Body(tuple(old), added)
