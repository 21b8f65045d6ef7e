"""Reads the parts of a test's name, as runners print it: its file, the titles above it, and its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r" \((\d{1,5})\)$")
_SEPARATOR = re.compile(r" [>›] ")
_FILE = re.compile(r"\S+\.(?:[cm]?[jt]sx?|py|go|rs|rb|php|java|kt|vue|svelte|feature)$")
_UNITTEST = re.compile(r"(?P<test>\w+) \((?P<where>[^\W\d][\w.]*)\)$")


@dataclass(frozen=True, slots=True)
class Titles:
    """A test's name in parts. `file` is "" where the name has none; the last of the `titles` is the test's own.

    `number`: the name ends with a number in brackets, which may count tests of one name."""

    file: str
    titles: tuple[str, ...]
    number: bool = False


def titles(name: str) -> Titles:
    """The parts of a name. unittest's `test (module.Class.test)` is one dotted title."""
    unit = _UNITTEST.match(name)
    if unit is not None:
        where = unit["where"]
        return Titles("", (where if where.endswith(f".{unit['test']}") else f"{where}.{unit['test']}",))
    bare = _NUMBER.sub("", name)
    place, sign, rest = bare.partition("::")
    if sign and is_file(place):
        return Titles(place, tuple(_SEPARATOR.split(rest.rpartition("::")[2])), bare != name)
    first, *others = _SEPARATOR.split(bare)
    if others and is_file(first):
        return Titles(first, tuple(others), bare != name)
    return Titles("", (first, *others), bare != name)


def is_file(text: str) -> bool:
    """Whether the text is the path of a file of tests."""
    return _FILE.match(text) is not None
