"""Finds the lines of a log that only warn: a warning, a note or a hint of a tool is no error, whatever its words
are."""

from __future__ import annotations

import re
from typing import Literal

Grade = Literal["error", "warning", "runtime_warning"]

_WORD = r"(?:warning|warn|note|notice|info(?:rmation)?|hint|help|style|convention|refactor|suggestion|portability)"
_PLACED = re.compile(
    rf"\[?[^\s:]{{1,400}}?(?::\d{{1,7}}(?::\d{{1,7}})?(?:-\d+(?::\d+)?)?|\(\d{{1,7}}(?:[,.:]\s?\d{{1,7}}){{0,3}}\))\]?"
    rf"\s?[:\s-]\s*(?:\[?{_WORD}\]?(?:\s?[:\[(]|\s\s?\S)|[WCRI]\d{{4}}: |[WCI]: |\[W\d+\])",
    re.IGNORECASE,
)
_ROW = re.compile(rf"\s*(?:\S.*:)?\d{{1,7}}:\d{{1,7}}(?:-\d+:\d+)?\s+(?:{_WORD}|⚠)\s|\s*⚠\s+\S", re.IGNORECASE)
_HEAD = re.compile(
    rf"\s*(?:::)?\[?(?:{_WORD})\]?(?:\[[\w:/.-]+\])?(?:\(\S+\))?(?:\s?: |\s+(?:file|line)=)", re.IGNORECASE
)
_ENDS = re.compile(r"\[Warning/[^\]]+\]$|: line \d+, col \d+, Warning - | SC\d{4} \((?:warning|info|style)\)")

_PYTHON = re.compile(r"(?:^|\s)[^\s:][^\s:]{0,400}:\d{1,7}: [\w.]{0,100}Warning: ")
_NODE = re.compile(
    r"\(node:\d+\) |\(Use `node --trace-|npm (?:warn|WARN)\b|\s*(?:yarn|pnpm|warn)\s+warning ", re.IGNORECASE
)


def graded(line: str) -> Grade:
    """The grade of a line that looks like an error: an error, a warning of a linter or type checker, or a warning that
    a program printed while it ran (Python's `…Warning`, node's), which fails no check.

    A warning that was raised (`-W error`) ends a traceback, without a place in front: an error."""
    if _PYTHON.search(line) or _NODE.match(line):
        return "runtime_warning"
    warns = _PLACED.match(line) or _ROW.match(line) or _HEAD.match(line) or _ENDS.search(line)
    return "warning" if warns else "error"
