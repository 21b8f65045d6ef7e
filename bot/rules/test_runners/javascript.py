"""Failed tests in the logs of JavaScript's runners that give each failure a heading of its own: jest, vitest, ava, uvu
and node's test runner."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from bot.rules.test_runners.sections import MAX_TESTS, Section, last_before, matching, single, summary_line, until

_TOOK = r"(?: \(?[\d.]+ ?m?s\)?)?"

_JEST = re.compile(r"  ● (?P<name>(?!Console$|.*Validation |Deprecation |Cannot log after).+)$")
_JEST_CONSOLE = re.compile(r"  ● Console$")
_JEST_FILE = re.compile(r"FAIL\s+(?:\S+ )?(?P<file>\S+\.\w+)(?: \([\d.]+ m?s\))?$")
_JEST_END = re.compile(r"  ● |(?:FAIL|PASS)\s|Test Suites: |Summary of all failing tests|npm (?:ERR!|error)")
_JEST_TREE = re.compile(r"\s+✕ ")
_NO_SUITE = "Test suite failed to run"


def read_jest(lines: Sequence[str]) -> Iterator[Section]:
    """By file and path of titles; jest repeats all failures at its end where there were many test files."""
    heads = [at for at, _ in islice(matching(lines, _JEST, "● "), MAX_TESTS)]
    files = {at: found["file"].removeprefix("./") for at, found in matching(lines, _JEST_FILE, "FAIL")}
    above = list(files)
    for head in heads:
        name = lines[head][4:]
        file = files.get(last_before(head, above) or 0, "")
        end = until(lines, head, _JEST_END)
        whole = file if name == _NO_SUITE and file else f"{file} › {name}" if file else name
        yield Section(whole, summary_line(lines[head + 1 : end]), range(head, end))
    if heads:
        for at, _ in matching(lines, _JEST_CONSOLE, "● "):
            yield Section("", "", range(at, until(lines, at, _JEST_END)))
        yield from (single(at) for at, _ in matching(lines, _JEST_TREE, "✕ "))
        yield from (single(at) for at in files)


_VITEST = re.compile(r" FAIL  (?:\|[^|]*\| )?(?P<name>.+?)(?: \[ .* \])?$")
_VITEST_END = re.compile(r" FAIL  |⎯{4,}| Test Files  ")
_VITEST_TREE = re.compile(r"\s+(?:[×❯] .*|→ .*)$")
_VITEST_PRINTED = re.compile(r"std(?:out|err) \| ")
_EMPTY = re.compile(r"$")
_VITEST_BODY = re.compile(r"⎯{3,} Failed (?:Tests|Suites) ")


def read_vitest(lines: Sequence[str]) -> Iterator[Section]:
    """By file and path of titles. Tests that fail alike are headings above one error."""
    waiting: list[tuple[int, str]] = []
    heads = dict(matching(lines, _VITEST, " FAIL  "))
    for at, found in heads.items():
        waiting.append((at, found["name"]))
        if at + 1 in heads:
            continue
        end = until(lines, at, _VITEST_END)
        message = summary_line(lines[at + 1 : end])
        for head, name in waiting:
            yield Section(name, message, range(head, end))
        waiting = []
    if heads:
        first = next((at for at, _ in matching(lines, _VITEST_BODY, "Failed ")), min(heads))
        yield from (single(at) for at, _ in matching(lines[:first], _VITEST_TREE, " "))
        for at, _ in matching(lines, _VITEST_PRINTED, " | "):
            yield Section("", "", range(at, until(lines, at, _EMPTY)))


_AVA = re.compile(r"\s*[✘✖] \[fail\]: (?P<name>.+?)(?: Error thrown in test)?$")
_AVA_RULE = re.compile(r"\s*─+$")
_AVA_MESSAGE = re.compile(r"  (?:[\w.]*(?:Error|Exception): |Difference(?: \(|:$))")


def read_ava(lines: Sequence[str]) -> Iterator[Section]:
    """By the titles of its list, below which each failure stands with its title alone on a line."""
    listed = [(at, found["name"]) for at, found in islice(matching(lines, _AVA, "[fail]: "), MAX_TESTS)]
    if not listed:
        return
    start = until(lines, listed[-1][0], _AVA_RULE)
    ends = until(lines, start, _AVA_RULE)
    heads: dict[str, int] = {}
    for at in range(start, ends):
        heads.setdefault(lines[at].strip(), at)
    own = sorted(heads[name] for _, name in listed if name in heads)
    for at, name in listed:
        if name not in heads:
            yield Section(name, "", range(at, at + 1))
            continue
        part = range(heads[name], next((other for other in own if other > heads[name]), ends))
        message = next((line for line in part if _AVA_MESSAGE.match(lines[line])), heads[name])
        values = lines[message + 1 : part.stop] if "Difference" in lines[message] else lines[message : message + 1]
        differing = [line.strip() for line in values if line.strip() and not line.lstrip().startswith("›")][:2]
        yield Section(name, " ".join(differing) if message != heads[name] else "", part)
        yield single(at)


_UVU = re.compile(r"   FAIL  (?P<name>(?:[^\"]+ )?\"[^\"]+\")$")
_UVU_END = re.compile(r"   FAIL  |  Total: ")


def read_uvu(lines: Sequence[str]) -> Iterator[Section]:
    for at, found in matching(lines, _UVU, "   FAIL  "):
        end = until(lines, at, _UVU_END)
        yield Section(found["name"].replace('"', ""), summary_line(lines[at + 1 : end]), range(at, end))


_NODE_LIST = re.compile(r"(?:✖ failing tests:|Failed tests:)$")
_NODE_AT = re.compile(r"test at (?P<file>.+?):\d+:\d+$")
_NODE = re.compile(rf"✖ (?P<name>.+?){_TOOK}(?: # .*)?$")
_NODE_TREE = re.compile(r"\s*✖ ")
_NODE_NEXT = re.compile(r"test at |✖ ")
_NODE_HOLDS = re.compile(r"'?\d+ subtests? failed'?$")


def read_node(lines: Sequence[str]) -> Iterator[Section]:
    """By file and title, as listed at the end: the tree before it repeats each failure, and counts what holds them."""
    start = max((at for at, _ in matching(lines, _NODE_LIST, "ail")), default=-1)
    if start < 0:
        return
    names: dict[str, int] = {}
    for at, found in matching(lines[start + 1 :], _NODE, "✖ "):
        head = at + start + 1
        end = until(lines, head, _NODE_NEXT)
        place = _NODE_AT.match(lines[head - 1])
        message = summary_line(lines[head + 1 : end])
        if _NODE_HOLDS.match(message):
            yield Section("", "", range(head, end))
            continue
        name = f"{place['file']} › {found['name']}" if place is not None else found["name"]
        names[name] = names.get(name, 0) + 1
        same = f" ({names[name]})" if names[name] > 1 else ""  # two tests may have one title
        yield Section(name + same, message, range(head - (place is not None), end))
    for at, _ in matching(lines[:start], _NODE_TREE, "✖ "):
        yield Section("", "", range(at, _end_of_indented(lines, at, start)))


_BUN = re.compile(r"\(fail\) (?P<name>.+?)(?: \[[\d.]+ ?m?s\])?$")
_BUN_RAN = re.compile(r"\((?:pass|fail|skip|todo)\) |(?P<file>\S+\.\w+):$")
_BUN_LIST = re.compile(r"\d+ tests? failed:$")
_BUN_MESSAGE = re.compile(r"(?:error|[\w.]*(?:Error|Exception)): ")


def read_bun(lines: Sequence[str]) -> Iterator[Section]:
    """By file and path of titles. Bun prints what is wrong above the line that names the test, and lists all names at
    its end."""
    end = next((at for at, _ in matching(lines, _BUN_LIST, " failed:")), len(lines))
    start, file = 0, ""
    for at, line in enumerate(lines):
        ran = _BUN_RAN.match(line)
        found = _BUN.match(line) if line.startswith("(fail) ") else None
        if found is not None and at > end:
            yield single(at)
        elif found is not None:
            message = next((below for below in range(start, at) if _BUN_MESSAGE.match(lines[below])), at)
            name = f"{file} › {found['name']}" if file else found["name"]
            yield Section(name, summary_line(lines[message:at]).removeprefix("error: "), range(start, at + 1))
        if ran is not None:
            start, file = at + 1, ran["file"] or file


def _end_of_indented(lines: Sequence[str], at: int, most: int) -> int:
    """Behind the lines that stand deeper than this one, where a failure's own words stand."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    end = at + 1
    while end < most and (not lines[end] or len(lines[end]) - len(lines[end].lstrip()) > indent):
        if _NODE_TREE.match(lines[end]):
            break
        end += 1
    return end
