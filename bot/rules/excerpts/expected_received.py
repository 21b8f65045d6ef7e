"""What a failure expected and what it received, where its tool names which is which.

Pytest, unittest and Rust show a left and a right value; which of them was expected is the author's habit, and nothing
is claimed of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

_MAX_LINES = 400
_MAX_DIFFERING = 60
_WIDTH = 500
_MAX_CHARS = 300


class Compared(NamedTuple):
    """Two values as the tool wrote them, each on one line; both empty where it names none."""

    expected: str
    received: str


NOTHING = Compared("", "")

_EXPECTED = re.compile(r"\s*(?:#\s+)?[Ee]xpected\s{0,4}:\s*(?P<value>\S.*)$")
_RECEIVED = re.compile(r"\s*(?:#\s+)?(?:[Rr]eceived|[Aa]ctual|got)\s{0,4}:\s*(?P<value>\S.*)$")
_HEADS: tuple[tuple[str, re.Pattern[str], bool], ...] = (
    # (a text that the head of a comparison holds, its shape, whether `-` marks what was expected)
    ("+ expected - actual", re.compile(r"\s*\+ expected - actual$"), False),
    ("+ actual - expected", re.compile(r"\s*\+ actual - expected\b"), True),
    ("(- actual, + expected)", re.compile(r"\s*Difference \(- actual, \+ expected\)"), False),
    ("- Expected", re.compile(r"\s*- Expected(?:\s+- \d+)?$"), True),
    ("--- expected", re.compile(r"\s*--- [Ee]xpected$"), True),
    ("--- Expected", re.compile(r"\s*--- Expected$"), True),
    ("[Diff] Actual / Expected", re.compile(r"\s*\[Diff\] Actual / Expected$"), False),
)
_BLOCK = re.compile(r"[|>][-+]?$")
_SKIPPED = re.compile(r"[-+] (?:Expected|Received)\b|\+\+\+ [Aa]ctual$|@@ |-+\^$")
_ENDS = ("at ", "❯", "› ", "...", "Error Trace:", "Stack:")
_UVU = re.compile(r"\s*(?P<marks>\+\+|--)(?P<value>.*?)\s+\((?:Expected|Actual)\)$")
_SENTENCES = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?P<received>.{1,300}) !== (?P<expected>.{1,300})$",
        r"(?:^|: )[Ee]xpected (?P<received>(?!values\b).{1,300}?) to "
        r"(?:be|equal|deeply equal|strictly equal|loosely equal) "
        r"(?P<expected>(?!(?:an?|in|at|called|defined|thrown|greater|less|close|of|true|falsy|truthy|undefined)\b)"
        r".{1,300}?)(?: //.*|\.)?$",
        r"\b[Gg]ot:? (?P<received>.{1,200}?)[,;]? +[Ww]ant(?:ed)?:? (?P<expected>[^;]{1,200})",
        r"\b[Ww]ant(?:ed)?:? (?P<expected>.{1,200}?)[,;]? +(?:but )?[Gg]ot:? (?P<received>[^;]{1,200})",
        r"\(got (?P<received>.{1,200}), expected (?P<expected>.{1,200})\)",
        r"expected (?P<expected>`[^`]{1,200}`), found (?P<received>`[^`]{1,200}`)",
        r"\b[Ee]xpected:? (?P<expected>.{1,200}?)[,;]? (?:but )?[Gg]ot:? (?P<received>.{1,200})$",
    )
)


def compared(lines: Sequence[str], message: str) -> Compared:
    """The values of the failure that these lines show; those that `message` names where the lines name none."""
    own = [line[:_WIDTH] for line in lines[:_MAX_LINES]]
    readers: tuple[Callable[[Sequence[str]], Compared], ...] = (_named, _differing, _marked)
    found = (reader(own) for reader in readers)
    sentences = (_in_a_sentence(line.strip()) for line in (message, *own))
    chosen = next((one for one in (*found, *sentences) if one != NOTHING), NOTHING)
    return Compared(_bounded(chosen.expected), _bounded(chosen.received))


def _bounded(value: str) -> str:
    text = " ".join(value.split())
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS - 1]}…"


def _named(lines: Sequence[str]) -> Compared:
    """`Expected: 4` and `Received: 3`, in either order; a comma ends each where an object is printed."""
    expected = _first(_EXPECTED, lines)
    received = _first(_RECEIVED, lines)
    if not expected or not received:
        return NOTHING
    if expected.endswith(","):
        return Compared(expected[:-1], received.removesuffix(","))
    return Compared(expected, received)


def _first(pattern: re.Pattern[str], lines: Sequence[str]) -> str:
    """The first value, which YAML may write as a block below."""
    for at, line in enumerate(lines):
        found = pattern.match(line)
        if found is None:
            continue
        value: str = found["value"].strip()
        if not _BLOCK.match(value):
            return value
        deeper = " " * (len(line) - len(line.lstrip()) + 1)
        end = next((end for end in range(at + 1, len(lines)) if not lines[end].startswith(deeper)), len(lines))
        return " ".join(text.strip() for text in lines[at + 1 : end])
    return ""


def _differing(lines: Sequence[str]) -> Compared:
    """The lines that differ, below a head that explains what `-` and `+` mark."""
    for at, line in enumerate(lines):
        for part, pattern, minus_expected in _HEADS:
            if part in line and pattern.match(line):
                minus, plus = _of_difference(lines[at + 1 : at + 1 + _MAX_DIFFERING])
                if minus or plus:
                    return Compared(minus, plus) if minus_expected else Compared(plus, minus)
    return NOTHING


def _of_difference(lines: Iterable[str]) -> tuple[str, str]:
    minus: list[str] = []
    plus: list[str] = []
    for line in lines:
        text = line.strip()
        if text.startswith(_ENDS) or text == "+ expected - actual":
            break
        if not text or _SKIPPED.match(text):
            continue
        if text[0] in "-+":
            (minus if text[0] == "-" else plus).append(text[1:].strip())
    return _joined(minus), _joined(plus)


def _joined(parts: Sequence[str]) -> str:
    return parts[0].removesuffix(",") if len(parts) == 1 else " ".join(parts)


def _marked(lines: Sequence[str]) -> Compared:
    """uvu's `++4    (Expected)` and `--3    (Actual)`."""
    found = [match for line in lines if "(Expected)" in line or "(Actual)" in line if (match := _UVU.match(line))]
    expected = " ".join(match["value"] for match in found if match["marks"] == "++")
    received = " ".join(match["value"] for match in found if match["marks"] == "--")
    return Compared(expected, received) if expected and received else NOTHING


def _in_a_sentence(text: str) -> Compared:
    for pattern in _SENTENCES:
        found = pattern.search(text)
        if found is not None:
            return Compared(found["expected"], found["received"])
    return NOTHING
