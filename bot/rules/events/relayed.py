"""Reads what a relay such as smee.io passes on: one JSON object with the headers of a delivery and its parsed body."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADERS = re.compile(r"(?:x-[a-z0-9-]+|content-type|user-agent)\Z")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class RelayedDelivery(NamedTuple):
    """A delivery as GitHub sent it to the relay."""

    headers: dict[str, str]
    body: bytes


def read_relayed(data: str) -> RelayedDelivery | None:
    """The delivery in a message; None for a message without a body, or that is no JSON object.

    The body is the text of the message itself, not a new form of its value, as its signature would no longer fit."""
    headers, body = {}, None
    try:
        for name, value, text in _members(data):
            if name == "body":
                body = value if isinstance(value, str) else text
            elif isinstance(value, str) and _HEADERS.match(name) and value.isprintable():
                headers[name] = value
    except (ValueError, RecursionError):
        return None
    return None if body is None else RelayedDelivery(headers, body.encode("utf-8", "replace"))


def _members(text: str) -> Iterator[tuple[str, object, str]]:
    """The members of a JSON object: name, value, and the text of the value. Raises ValueError for anything else."""
    at = _skip(text, 0, "{")
    while True:
        name, end = _DECODER.raw_decode(text, at)
        start = _skip(text, end, ":")
        value, end = _DECODER.raw_decode(text, start)
        yield str(name), value, text[start:end]
        end = _after_space(text, end)
        if text[end : end + 1] == "}":
            return
        at = _skip(text, end, ",")


def _skip(text: str, at: int, sign: str) -> int:
    """The place after that sign and the white space around it."""
    at = _after_space(text, at)
    if text[at : at + 1] != sign:
        raise ValueError(sign)
    return _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None, "it also matches nothing"
    return match.end()
