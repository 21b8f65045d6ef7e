"""Reads what the probes report of the processes of a run, and V8's coverage files.

Both are written beside untrusted code: all sizes are limited, and what cannot be read makes the evidence unusable."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

MAX_REPORT_BYTES = 5_000_000
MAX_COVERAGE_BYTES = 40_000_000
MAX_COVERAGE_FILES = 500
"""Limits of one report, and of V8's coverage of all processes together."""

_MAX_DETAIL = 100


@dataclass(frozen=True, slots=True)
class Reports:
    """What one kind of probe reports. `ran` are functions that have begun, by path, line and name; `opened` are changed
    files that were read as data, `listed` directories whose files were listed. `doubts` are kinds with details of what
    may have run unseen. `processes` have a number and what the variable for coverage was."""

    processes: tuple[tuple[int, str], ...] = ()
    ran: frozenset[tuple[str, int, str]] = frozenset()
    opened: frozenset[str] = frozenset()
    listed: frozenset[str] = frozenset()
    doubts: tuple[tuple[str, str], ...] = ()


def read_reports(text: str) -> Reports:
    """The reports of a file with a JSON list on each line. A line that is none of them is a doubt, `malformed`."""
    processes: list[tuple[int, str]] = []
    ran: set[tuple[str, int, str]] = set()
    opened: set[str] = set()
    listed: set[str] = set()
    doubts: dict[tuple[str, str], None] = {}
    for line in text.split("\n"):
        if not line:
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        match found:
            case ["process", int(number), *rest]:
                processes.append((number, rest[0] if rest and isinstance(rest[0], str) else ""))
            case ["ran", str(path), int(number), str(name)]:
                ran.add((path, number, name))
            case ["opened", str(path)]:
                opened.add(path)
            case ["listed", str(path)]:
                listed.add(path)
            case ["doubt", str(kind), str(detail)]:
                doubts[kind, " ".join(detail.split())[:_MAX_DETAIL]] = None
            case _:
                doubts["malformed", ""] = None
    return Reports(tuple(processes), frozenset(ran), frozenset(opened), frozenset(listed), tuple(doubts))


@dataclass(frozen=True, slots=True)
class Script:
    """A script that V8 ran. `path` is that of its file, or "" for a script without one; `url` is V8's own name for it.

    `functions` are the ranges of its functions in units of UTF-16, each with how often it ran, as V8 orders them."""

    url: str
    path: str
    functions: tuple[tuple[int, int, int], ...] = field(repr=False)


def read_coverage(content: bytes) -> tuple[Script, ...] | None:
    """The scripts of one coverage file (`NODE_V8_COVERAGE`) without Node's own; None where it is none."""
    try:
        data = json.loads(content)
        return tuple(_scripts(data["result"]))
    except (ValueError, RecursionError, KeyError, TypeError):
        return None


def _scripts(result: object) -> Iterable[Script]:
    if not isinstance(result, list):
        raise TypeError
    for entry in result:
        url = entry["url"]
        if not isinstance(url, str):
            raise TypeError
        if url.startswith("node:"):
            continue
        functions = tuple(_function(each["ranges"][0]) for each in entry["functions"] if each["ranges"])
        path = unquote(url.removeprefix("file://").partition("?")[0]) if url.startswith("file:///") else ""
        yield Script(url, path, functions)


def _function(found: dict[str, object]) -> tuple[int, int, int]:
    start, end, count = found["startOffset"], found["endOffset"], found["count"]
    if not (isinstance(start, int) and isinstance(end, int) and isinstance(count, int)):
        raise TypeError
    return start, end, count
