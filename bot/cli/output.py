"""Prints results on stdout, and one line for each problem on stderr. A text may be untrusted, the terminal may
have any encoding, and the reader of a pipe may be gone."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from bot.reports.format.truncate import one_line

_MAX_LINE = 2_000
_MARK = re.compile(r"(?m)(?<=^)[✓✗]|(?<=^  )[✓✗!]")
_COLORS = {"✓": "32", "✗": "31", "!": "33"}
"""Green, red and yellow (ECMA-48, SGR), for the mark that a line begins with."""


def print_json(value: BaseModel | dict[str, Any]) -> None:
    """Print one JSON document on stdout, in ASCII if stdout has no other characters."""
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    text = json.dumps(data, ensure_ascii=False)
    try:
        text.encode(_encoding())
    except UnicodeEncodeError:  # half a surrogate pair, or a poor terminal: JSON has an escape for both
        text = json.dumps(data)
    _write(text)


def say(text: str) -> None:
    """Print a line on stdout; a character that its encoding lacks becomes `?`. Marks of a terminal have colors."""
    encoding = _encoding()
    shown = text.encode(encoding, "replace").decode(encoding)
    _write(_MARK.sub(_paint, shown) if _has_colors() else shown)


def complain(text: str) -> None:
    """Print a problem as one line on stderr, without control characters."""
    print(f"mendbot: {one_line(text, _MAX_LINE)}", file=sys.stderr)


def note(text: str) -> None:
    """Print the progress as one line on stderr, with its indentation; a closed pipe is no error."""
    indent = " " * (len(text) - len(text.lstrip(" ")))
    with suppress(BrokenPipeError):
        print(f"{indent}{one_line(text, _MAX_LINE)}", file=sys.stderr, flush=True)


def _has_colors() -> bool:
    """Whether stdout is a terminal with colors, and nobody asked for none (https://no-color.org)."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _paint(mark: re.Match[str]) -> str:
    return f"\x1b[{_COLORS[mark[0]]}m{mark[0]}\x1b[0m"


def _encoding() -> str:
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def _write(line: str) -> None:
    try:
        print(line, flush=True)
    except BrokenPipeError:
        # the reader has seen enough (`| head`); what Python flushes at its end must not complain either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
