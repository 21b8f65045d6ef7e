"""How the commands speak: results on stdout, one line for what is wrong on stderr.
What they say may hold anybody's text, on a terminal of any encoding, to a reader who may be gone."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from bot.reports.format.truncate import one_line

_LONGEST_COMPLAINT = 2_000


def print_json(value: BaseModel | dict[str, Any]) -> None:
    """Exactly one JSON document on stdout, in ASCII where that is all that stdout can show."""
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    text = json.dumps(data, ensure_ascii=False)
    try:
        text.encode(_encoding())
    except UnicodeEncodeError:  # half a surrogate pair, or a poor terminal: JSON has an escape for both
        text = json.dumps(data)
    _write(text)


def say(text: str) -> None:
    """A line on stdout; what its encoding cannot show becomes `?`."""
    encoding = _encoding()
    _write(text.encode(encoding, "replace").decode(encoding))


def complain(text: str) -> None:
    """What is wrong, as one line on stderr without control characters."""
    print(f"mendbot: {one_line(text, _LONGEST_COMPLAINT)}", file=sys.stderr)


def note(text: str) -> None:
    """What is being done, as one line on stderr with its indentation; who has gone away misses nothing."""
    indent = " " * (len(text) - len(text.lstrip(" ")))
    with suppress(BrokenPipeError):
        print(f"{indent}{one_line(text, _LONGEST_COMPLAINT)}", file=sys.stderr, flush=True)


def _encoding() -> str:
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def _write(line: str) -> None:
    try:
        print(line, flush=True)
    except BrokenPipeError:
        # the reader has seen enough (`| head`); what Python flushes at its end must not complain either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
