"""Prints results on stdout, and one line for each problem on stderr. A text may be untrusted, the terminal may
have any encoding, and the reader of a pipe may be gone."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from bot.reports.format.truncate import one_line

_MAX_LINE = 2_000


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
    """Print a line on stdout; a character that its encoding lacks becomes `?`."""
    encoding = _encoding()
    _write(text.encode(encoding, "replace").decode(encoding))


def complain(text: str) -> None:
    """Print a problem as one line on stderr, without control characters."""
    print(f"mendbot: {one_line(text, _MAX_LINE)}", file=sys.stderr)


def note(text: str) -> None:
    """Print the progress as one line on stderr, with its indentation; a closed pipe is no error."""
    indent = " " * (len(text) - len(text.lstrip(" ")))
    with suppress(BrokenPipeError):
        print(f"{indent}{one_line(text, _MAX_LINE)}", file=sys.stderr, flush=True)


def _encoding() -> str:
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def _write(line: str) -> None:
    try:
        print(line, flush=True)
    except BrokenPipeError:
        # the reader has seen enough (`| head`); what Python flushes at its end must not complain either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
