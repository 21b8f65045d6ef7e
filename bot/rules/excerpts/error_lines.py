"""Selects the lines of a log that show one failure, without stacks of frameworks, passed tests and progress. There
are at most 40 lines and 3,000 characters, around the line with the message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bot.rules.failures.warning_lines import graded

MAX_LINES = 40
MAX_CHARS = 3_000
_WIDTH = 400
_READ = 2_000
"""Lines of one failure that are looked at."""

_BEFORE = 14
"""Lines kept above the one that names what is wrong: the code that a tool shows there."""

_FOREIGN = r"node_modules/|node:|internal/|<anonymous>\)?$|<Jasmine>|native\)?$"
_FRAME = re.compile(
    rf"\s*(?:at |❯ )(?:.*\b)?(?:{_FOREIGN})|\s*at <|\s*(?:at )?async Promise\.all"
    rf"|\s*[\w.$<>\[\] ]{{1,200}} \((?:{_FOREIGN})|\s+node:"
)
_PYTHON = re.compile(r"(?P<indent>[\s|E]*)File \"(?:[^\"]*/(?:site-packages|dist-packages|lib/python3[\w.]*)/|<)")
_PYTEST = re.compile(r"(?:(?:\S*/)?(?:site-packages|dist-packages|lib/python3[\w.]*)/\S+|<[\w. ]+>):\d+: in ")
_GO = re.compile(r"\t(?:/usr|/opt|/root|/home/\w+)?\S*/(?:go[\d.-]*/src|pkg/mod)/\S+\.go:\d+")
_GO_CALL = re.compile(r"[\w./*()-]+\(.*\)$|created by |goroutine ")
_RUST = re.compile(r"\s+at (?:/rustc/|\S*/\.cargo/|\S*/rustlib/)")
_RUST_CALL = re.compile(r"\s+\d+: ")
_PASSED = re.compile(r"\s*(?:✓|✔|√) |ok \d+\b|.*\bPASSED\b\s*(?:\[[ \d]+%\])?$|(?:test )?\S.* \.\.\. ok$")
_PROGRESS = re.compile(r"[.FEsxXR]{0,200}\s*\[\s*\d{1,3}%\]$|.{0,80}\d{1,3}%\|.{0,80}\||\[gw\d+\] \w+ -- Python ")


def block(lines: Sequence[str], message: str = "", head: str = "") -> str:
    """The lines of one failure for people, around the one with `message`; `head` is put above them, such as the file
    of a row."""
    kept = _single_spaced(_own(lines[:_READ]))
    if head:
        kept.insert(0, head)
    kept = [line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…" for line in kept]
    return _windowed(kept, _key(kept, message))


def _own(lines: Sequence[str]) -> list[str]:
    kept: list[str] = []
    hidden = -1  # the indentation of a Python frame that is left out with its source
    for at, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if hidden >= 0 and line.strip() and indent > hidden:
            continue
        hidden = -1
        python = _PYTHON.match(line) if 'File "' in line else None
        if python is not None:
            hidden = len(python["indent"])
        elif _PYTEST.match(line):
            hidden = 0
        elif not _is_noise(lines, at):
            kept.append(line)
    return kept


def _is_noise(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    if not line.strip():
        return False
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if _GO.match(line) or _RUST.match(line):
        return True
    if (_GO_CALL.match(line) and _GO.match(below)) or (_RUST_CALL.match(line) and _RUST.match(below)):
        return True
    if _FRAME.match(line) or _PROGRESS.match(line) or _PASSED.match(line):
        return True
    return graded(line) == "runtime_warning" and not line.startswith(("E ", ">"))


def _single_spaced(lines: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        if line.strip() or (kept and kept[-1]):
            kept.append(line if line.strip() else "")
    while kept and not kept[-1]:
        kept.pop()
    return kept


_KEYS = (re.compile(r"E  |\s*(?:\w+)?(?:Error|Exception)\b.*:|thread '.*panicked|panic: "),)


def _key(lines: Sequence[str], message: str) -> int:
    """The first line that holds the beginning of `message`."""
    words = message.strip()[:40].rstrip()
    found = (at for at, line in enumerate(lines) if words and words in line)
    known = (at for pattern in _KEYS for at, line in enumerate(lines) if pattern.match(line))
    return next(found, next(known, 0))


def _windowed(lines: list[str], key: int) -> str:
    """At most 40 lines and 3,000 characters: the first line, and what stands around the key."""
    first = 0 if len(lines) <= MAX_LINES else max(0, min(key - _BEFORE, len(lines) - MAX_LINES + 2))
    top = [lines[0], f"[… {first - 1} lines cut …]"] if first > 1 else []
    shown = [*top, *lines[first if top else 0 :][: MAX_LINES - len(top)]]
    while len(shown) > 1 and sum(len(line) + 1 for line in shown) - 1 > MAX_CHARS:
        at = shown.index(lines[key]) if lines[key] in shown else 0
        if len(shown) - at > at - len(top):
            shown.pop()
        else:
            shown.pop(len(top))
    return "\n".join(shown)[:MAX_CHARS]
