"""Failed tests in the logs of `go test`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice

from bot.rules.test_runners.sections import MAX_TESTS, Section, matching, parents, single, summary_line, until

_GO = re.compile(r"(?P<indent>\s*)--- FAIL: (?P<name>\S+) \([\d.]+s\)$")
_GO_PACKAGE = re.compile(r"FAIL\t(?P<package>\S+)\t[\d.]+s$")
_GO_RUN = re.compile(r"=== (?:RUN|NAME|CONT)\s+(?P<name>\S+)$")
_GO_PLACE = re.compile(r"\s+[\w.-]+\.go:\d+: ?")
_GO_END = re.compile(r"\s*(?:--- |=== )|FAIL\b|ok\s|PASS$|exit status |\?\s")


def read_go(lines: Sequence[str]) -> Iterator[Section]:
    """By package and name. A test that failed by its subtests alone is none of its own."""
    heads = list(islice(matching(lines, _GO, "--- FAIL: "), MAX_TESTS))
    if not heads:
        return
    packages = {at: found["package"] for at, found in matching(lines, _GO_PACKAGE, "FAIL\t")}
    ends = list(packages)
    held = {(bisect_left(ends, at), parent) for at, found in heads for parent in parents(found["name"], "/")}
    earlier = _go_printed_before(lines)
    for at, found in heads:
        name = found["name"]
        end = until(lines, at, _GO_END)
        block = bisect_left(ends, at)
        package = packages[ends[block]] if block < len(ends) else ""
        after = ends[block - 1] if block else -1
        before = [line for line in earlier.get(name, ()) if after < line < at]
        message = _go_message([*(lines[line] for line in before), *lines[at + 1 : end]])
        if (block, name) not in held or message:
            whole = f"{package}.{name}" if package else name
            yield Section(whole, message, range(at, end))
            yield from (Section(whole, "", range(line, line + 1)) for line in before)
        else:
            yield Section("", "", range(at, end))
    yield from (single(line) for own in earlier.values() for line in own)
    yield from (single(at) for at in packages)


def _go_printed_before(lines: Sequence[str]) -> dict[str, list[int]]:
    """The lines that each test printed before its result, as it does with `-v`."""
    message: dict[str, list[int]] = {}
    for at, found in matching(lines, _GO_RUN, "=== "):
        end = until(lines, at, _GO_END)
        message.setdefault(found["name"], []).extend(line for line in range(at + 1, end) if lines[line])
    return message


def _go_message(lines: Sequence[str]) -> str:
    """The panic message, else all that it prints with a place: log lines look the same as failures."""
    panics = [line for line in lines if line.startswith("panic: ")]
    if panics:
        return panics[0].removesuffix(" [recovered]")
    starts = [at for at, line in enumerate(lines) if _GO_PLACE.match(line)]
    message = (
        summary_line([_GO_PLACE.sub("", lines[at], count=1), *lines[at + 1 : end]]) for at, end in _parts(starts, lines)
    )
    return "; ".join(dict.fromkeys(filter(None, message))) if starts else summary_line(lines)


def _parts(starts: Sequence[int], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    return zip(starts, [*starts[1:], len(lines)], strict=True)
