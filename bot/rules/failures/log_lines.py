"""A log as lines of plain text: what every rule that reads tool output starts from.
Colours would hide a match and a megabyte on one line would stall a pattern, so both end here."""

from __future__ import annotations

import re

LINE_LIMIT = 2_000
"""Characters of a line that rules look at; no tool's message needs more, and patterns stay quick on what isn't one."""

_SEQUENCE = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b\n]*+(?:\x07|\x1b\\)?|\x1b[ -/]*+[0-~]?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")


def plain(text: str) -> str:
    """The text without terminal sequences and control characters (ECMA-48); a lone `\\r` becomes a line break."""
    if "\x1b" in text:
        text = _SEQUENCE.sub("", text)
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def log_lines(output: str) -> list[str]:
    """The lines of `plain(output)`, each cut to LINE_LIMIT, without white space at their ends."""
    return [line[:LINE_LIMIT].rstrip() for line in plain(output).split("\n")]
