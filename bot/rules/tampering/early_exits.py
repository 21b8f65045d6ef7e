"""Finds code that ends a test before it has tested: a bare return, an exit with success, a failure that is caught
and ignored. It matches the text, one line or two at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_BRACES = r"\bcatch\s*(?:\([^()]*\))?\s*\{\s*\}"
_IN_CASES: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(
        r"\breturn(?: None)?$|\bsuppress\(|^except\b[^\n]*:\s*(?:(?:pass|return|continue)\b|\.\.\.)",
        re.MULTILINE,
    ),
    "javascript": re.compile(
        rf"\breturn;?$|{_BRACES}|\.catch\(\s*(?:\(\w*\)|\w*)\s*=>\s*(?:\{{\s*\}}|null|undefined|void 0)\s*\)",
        re.MULTILINE,
    ),
    "go": re.compile(r"\breturn$|\brecover\(\)", re.MULTILINE),
    "rust": re.compile(r"\breturn;$|\bcatch_unwind\b", re.MULTILINE),
    "annotated": re.compile(rf"\breturn;$|{_BRACES}", re.MULTILINE),
    "ruby": re.compile(r"\breturn$|\brescue\b", re.MULTILINE),
    "php": re.compile(rf"\breturn;$|{_BRACES}", re.MULTILINE),
    "shell": re.compile(r"\breturn(?: 0)?$", re.MULTILINE),
}
_ANYWHERE: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(
        r"\bsys\.exit\((?:0|None)?\)|\bos\._exit\(0\)|\braise SystemExit(?:\((?:0|None)?\))?\s*$", re.M
    ),
    "javascript": re.compile(r"\b(?:process|Deno)\.exit\(0?\)|\bprocess\.exitCode\s*=\s*0\b"),
    "go": re.compile(r"\bos\.Exit\(0\)"),
    "rust": re.compile(r"\bprocess::exit\(0\)"),
    "annotated": re.compile(r"\bSystem\.exit\(0\)|\bEnvironment\.Exit\(0\)"),
    "ruby": re.compile(r"^\s*exit!?(?:\((?:0|true)?\))?\s*$", re.M),
    "php": re.compile(r"\b(?:exit|die)\(0?\)"),
    "shell": re.compile(r"\|\|\s*(?:true|:)\s*$|^\s*exit 0\b|^\s*set \+e\b", re.M),
}
_CLASS = re.compile(r"^class\s+(?P<name>\w+)\s*(?:\((?P<bases>[^)]*)\))?\s*:")
_METHOD = re.compile(r"^\s+(?:async\s+)?def\s+test\w*")


def quits(body: Sequence[str], family: str) -> int:
    """How often the lines of a case end it early or ignore a failure in it."""
    return len(_IN_CASES[family].findall("\n".join(body)))


def exits(code: str, family: str) -> int:
    """How often a file ends the whole run with success."""
    return len(_ANYWHERE[family].findall(code))


def hidden(code: str, family: str) -> int:
    """How many methods of Python classes are named as tests but not collected: the class is no `Test…` and derives
    from nothing."""
    if family != "python":
        return 0
    found, inside = 0, False
    for line in code.split("\n"):
        if line[:1] not in ("", " ", "\t"):
            match = _CLASS.match(line)
            plain = match is not None and (match["bases"] or "object").strip() == "object"
            inside = plain and match is not None and not match["name"].startswith("Test")
        elif inside and _METHOD.match(line):
            found += 1
    return found
