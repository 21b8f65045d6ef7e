"""Failed tests in the logs of Go's and Rust's runners, and in the Test Anything Protocol (TAP) as node, tap, tape and
mocha write it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from bot.rules.test_runners.sections import MOST_TESTS, Section, last_before, matching, single, summary_line, until

_GO = re.compile(r"(?P<indent>\s*)--- FAIL: (?P<name>\S+) \([\d.]+s\)$")
_GO_PACKAGE = re.compile(r"FAIL\t(?P<package>\S+)\t[\d.]+s$")
_GO_RUN = re.compile(r"=== (?:RUN|NAME|CONT)\s+(?P<name>\S+)$")
_GO_PLACE = re.compile(r"\s+[\w.-]+\.go:\d+: ?")
_GO_END = re.compile(r"\s*(?:--- |=== )|FAIL\b|ok\s|PASS$|exit status |\?\s")


def read_go(lines: Sequence[str]) -> Iterator[Section]:
    """By package and name. A test that failed by its subtests alone is none of its own."""
    heads = list(islice(matching(lines, _GO, "--- FAIL: "), MOST_TESTS))
    if not heads:
        return
    packages = {at: found["package"] for at, found in matching(lines, _GO_PACKAGE, "FAIL\t")}
    ends = list(packages)
    held = {(bisect_left(ends, at), parent) for at, found in heads for parent in _parents(found["name"], "/")}
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


def _parents(name: str, part: str) -> Iterator[str]:
    """What a test stands in, by the parts of its name."""
    parts = name.split(part)[:_DEEPEST]
    return (part.join(parts[:deep]) for deep in range(1, len(parts)))


def _go_printed_before(lines: Sequence[str]) -> dict[str, list[int]]:
    """With `-v` a test speaks before it is known to have failed."""
    message: dict[str, list[int]] = {}
    for at, found in matching(lines, _GO_RUN, "=== "):
        end = until(lines, at, _GO_END)
        message.setdefault(found["name"], []).extend(line for line in range(at + 1, end) if lines[line])
    return message


def _go_message(lines: Sequence[str]) -> str:
    """What it panics with, else all that it prints at places: what it logs looks like what it fails with."""
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


_CARGO = re.compile(r"---- (?P<name>.+) std(?:out|err) ----$")
_CARGO_END = re.compile(r"---- .+ std(?:out|err) ----$|failures:$|test result: ")
_CARGO_RAN = re.compile(r"test (?P<name>.+?)(?: - should panic)? \.\.\. FAILED$")
_CARGO_TARGET = re.compile(r"\s+Running (?:unittests )?(?P<file>\S+) \(|\s+Doc-tests ")
_PANICKED = re.compile(r"(?:thread '.*' (?:\(\d+\) )?)?panicked at (?:'(?P<message>.*)', )?")
_CARGO_NOISE = re.compile(r"(?:note: |stack backtrace:|Test executable failed|std(?:err|out):$)")


def read_cargo(lines: Sequence[str]) -> Iterator[Section]:
    """By the target's file, where there are several, and the path of modules."""
    ran = list(islice(matching(lines, _CARGO_RAN, "... FAILED"), MOST_TESTS))
    targets = {at: found["file"] or "" for at, found in matching(lines, _CARGO_TARGET, "  ")}
    many = len({file for file in targets.values() if file}) > 1
    above = list(targets)
    reported = set()
    for at, found in islice(matching(lines, _CARGO, "---- "), MOST_TESTS):
        end = until(lines, at, _CARGO_END)
        name = _cargo_name(found["name"], at, targets if many else {}, above)
        reported.add(name)
        yield Section(name, _cargo_message(lines[at + 1 : end]), range(at, end))
    for at, found in ran:
        name = _cargo_name(found["name"], at, targets if many else {}, above)
        yield single(at) if name in reported else Section(name, "", range(at, at + 1))


def _cargo_name(name: str, at: int, targets: Mapping[int, str], above: Sequence[int]) -> str:
    file = targets.get(last_before(at, above) or 0, "")
    return f"{file} › {name}" if file else name


def _cargo_message(lines: Sequence[str]) -> str:
    for at, line in enumerate(lines):
        panicked = _PANICKED.match(line)
        if panicked is not None:
            return panicked["message"] or summary_line(
                below for below in lines[at + 1 :] if not _CARGO_NOISE.match(below)
            )
    return summary_line(line for line in lines if not _CARGO_NOISE.match(line))


_TAP = re.compile(r"(?P<indent> *)not ok \d+(?: -)? ?(?P<name>.*?)(?P<directive> # .*)?$")
_SUBTEST = re.compile(r"(?P<indent> *)# Subtest: (?P<name>.+)$")
_COMMENT = re.compile(r"# (?P<name>(?!tests\b|pass\b|fail\b|ok$|time=|suites\b|skip|todo|Subtest|\{).+)$")
_YAML_MESSAGE = re.compile(r"\s+(?:error|message): (?P<message>.+)$")
_BLOCK = re.compile(r"[|>][-+]?$")
_AT_LEAST = 2
_DEEPEST = 50
_LONGEST = 2_000
"""Lines of one diagnosis."""


def read_tap(lines: Sequence[str]) -> Iterator[Section]:
    """By the path of subtests. Assertions, which tap and tape number too, belong to the test they stand in, and a test
    that failed by its subtests alone is none of its own."""
    subtests = dict(matching(lines, _SUBTEST, "# Subtest: "))
    path: list[tuple[int, str]] = []  # the subtests that are open, with their indentation
    comment = ""
    held: set[str] = set()  # what failed tests stand in
    for at, line in enumerate(lines):
        if at in subtests:
            indent = len(subtests[at]["indent"])
            path = [(deep, name) for deep, name in path if deep < indent] + [(indent, subtests[at]["name"])]
        elif not subtests and line.startswith("# ") and (named := _COMMENT.match(line)) is not None:
            comment = named["name"]
        found = _TAP.match(line) if "not ok " in line else None
        if found is None or re.match(r" # (?:TOD[O]|SKIP)\b", found["directive"] or "", re.IGNORECASE):
            continue
        end = _end_of_tap(lines, at)
        indent = len(found["indent"])
        title = found["name"].replace("\\#", "#")
        names = [name for deep, name in path if deep < indent or (deep == indent and name == title)]
        name = " › ".join(names) if subtests and names else comment or title
        if name in held:
            yield Section("", "", range(at, end))
            continue
        held.update(_parents(name, " › "))
        own = name.endswith(title)
        message = _tap_message(lines[at + 1 : end])
        yield Section(name, message if own else title, range(at, end))


def _end_of_tap(lines: Sequence[str], at: int) -> int:
    """Behind the diagnosis: a block of YAML, or lines that stand deeper."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    end = at + 1
    if end < len(lines) and lines[end].strip() == "---":
        close = " " * (indent + _AT_LEAST) + "..."
        return next((line + 1 for line in range(end, min(end + _LONGEST, len(lines))) if lines[line] == close), end)
    while end < len(lines) and (not lines[end] or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1
    return end


def _tap_message(lines: Sequence[str]) -> str:
    for at, line in enumerate(lines):
        message = _YAML_MESSAGE.match(line)
        if message is None:
            continue
        if not _BLOCK.match(message["message"]):
            quoted = message["message"]
            return quoted[1:-1] if quoted[:1] in "'\"" and quoted[-1:] == quoted[:1] else quoted
        deep = len(line) - len(line.lstrip())
        below = lines[at + 1 :]
        stop = next((n for n, text in enumerate(below) if text and len(text) - len(text.lstrip()) <= deep), len(below))
        return summary_line(below[:stop])
    return "" if lines and lines[0].strip() == "---" else summary_line(lines)
