"""Failed tests in the logs of Python's runners: pytest in each of its styles, unittest, and what prints as it does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from bot.rules.test_runners.sections import MAX_TESTS, Section, matching, single, summary_line, until

_HEADING = re.compile(r"=+ (?P<title>.+?) =+$")
_TEST = re.compile(r"_{3,200} (?P<name>(?=.*[^_ ]).*?) _{3,200}$|_ (?P<long>\S.*\S) _$")
_WHEN = re.compile(r"ERROR (?:at (?:setup|teardown) of|collecting) ")
_SUBTEST = re.compile(r"(?: \[[^\]]*\])?(?: \([^()]*=[^()]*\)| \(<subtest>\)| \[[^\]]*\])$")
_SUMMED = re.compile(
    r"(?:FAILED|ERROR|SUBFAIL(?:ED)?(?:\[.*?\]|\(.*?\)| \(.*?\))*) "
    r"(?P<id>(?!\(\w[\w ]*=\d)[^\s:]+(?:::(?:[^\s\[]|(?<!:) (?!- ))*)?(?:\[.*?\](?= - |$))?)(?: - (?P<message>.*))?$"
)
_PROGRESS = re.compile(
    r"(?:\[gw\d+\] \[[ \d]+%\] (?:FAILED|ERROR|SUBFAIL\S*) )?\S+::.*?"
    r"(?: (?:FAILED|ERROR|SUBFAIL\S*)\s*(?:\[[ \d]+%\])?)?$"
)
_RAN = re.compile(r"\b(?:FAILED|ERROR|SUBFAILED)\b")
_PLACE = re.compile(r"(?P<path>[^\s:]+\.py):\d+:(?: in \w.*| [\w.]+)?$")
_ALIKE = 100
"""Tests of one name among which that of a file is looked for; parts of a log that are looked through."""
_CRASH = re.compile(r"\S+\.py:\d+: [\w.]+$")
_RAISED = re.compile(r"(?:\| )?(?:[\w.]*(?:Error|Exception|Group|Warning|Exit|Interrupt)\b)")
_TRACED = re.compile(r"E\s+(?:File \"|Traceback \(|\+ Exception Group )")


@dataclass(slots=True)
class _Shown:
    """A failure of pytest's long part; `node` is the end of its id, as far as the heading names it."""

    node: str
    message: str
    path: str
    lines: range


def read_pytest(lines: Sequence[str]) -> Iterator[Section]:
    """Each test by its node id; what it raised comes from the long part, which isn't cut to a terminal's width."""
    shown, regions = _shown(lines)
    found = islice(matching(lines, _SUMMED, "E"), MAX_TESTS)
    summed = [(at, match["id"], match["message"] or "") for at, match in found]
    left: dict[str, list[_Shown]] = {}
    for one in shown:
        left.setdefault(one.node, []).append(one)
    for at, name, message in summed:
        node = name if name in left else name.partition("::")[2]
        own = next((one for one in left.get(node, ())[:_ALIKE] if _is_of(one, name)), None)
        if own is not None:
            left[node].remove(own)
            yield Section(name, own.message or message, own.lines)
            yield single(at)
        else:
            yield Section(name, message, range(at, _end_of_summed(lines, at)))
    for one in (one for same in left.values() for one in same):
        yield Section(f"{one.path}::{one.node}" if one.path else one.node, one.message, one.lines)
    if summed or shown:
        yield from (single(at) for at, ran in matching(lines, _PROGRESS, "::") if _RAN.search(ran[0]))
    if summed:  # `--tb=line` has no headings
        without = (part for part in regions[:_ALIKE] if not any(one.lines.start in part for one in shown))
        yield from (Section("", "", part) for part in without)
    if summed and not shown:
        yield from (single(at) for at, _ in matching(lines, _CRASH, ".py:"))  # a long log lost its beginning


def _shown(lines: Sequence[str]) -> tuple[list[_Shown], list[range]]:
    """The failures of the long part, in order, and the lines of the parts themselves."""
    shown: list[_Shown] = []
    regions: list[range] = []
    region = -1  # where the part of the log began that has failures; -1 outside of one
    other = False  # a part that has none; the beginning of a long log, with its headings, may have been cut
    begun: tuple[int, str] | None = None
    for at, line in enumerate([*lines, "= end ="]):
        head = _HEADING.match(line) if line.startswith("=") else None
        test = _TEST.match(line) if line.startswith("_") and head is None else None
        if head is None and (test is None or line.startswith("_ _")):
            continue
        if begun is not None:
            shown.append(_of_part(lines, *begun, at))
            begun = None
        if head is not None:
            if region >= 0:
                regions.append(range(region, at))
            region = at if head["title"] in ("FAILURES", "ERRORS") else -1
            other = region < 0
        elif test is not None and not other:
            begun = (at, test["name"] or test["long"]) if len(shown) < MAX_TESTS else None
    return shown, regions


def _of_part(lines: Sequence[str], start: int, title: str, end: int) -> _Shown:
    name = _SUBTEST.sub("", title)
    node = _WHEN.sub("", name)
    head, bracket, row = node.partition("[")
    dotted = head if "/" in head or head.endswith(".py") else head.replace(".", "::")
    path = next((found["path"] for line in lines[start:end] if (found := _PLACE.match(line))), "")
    collecting = name.startswith("ERROR collecting ")
    node = node if collecting or title.startswith("[") else f"{dotted}{bracket}{row}"
    return _Shown(node, _asserted(lines, range(start, end)), "" if collecting else path, range(start, end))


def _asserted(lines: Sequence[str], part: range) -> str:
    """What the last run of `E` lines holds: an error that another was raised from stands above it."""
    own = [at for at in part if lines[at].startswith("E  ")]
    firsts = [at for at in own if not lines[at - 1].startswith("E  ") and lines[at - 1] != "E"]
    if not firsts:
        message = [lines[at] for at in part if _RAISED.match(lines[at])]
        return message[-1] if message else ""
    first = firsts[-1]
    if _TRACED.match(lines[first]):
        first = next((at for at in own if at > first and _RAISED.match(lines[at][1:].strip())), first)
    return lines[first][1:].strip()


def _is_of(one: _Shown, name: str) -> bool:
    path, _, node = name.partition("::")
    return one.node == name or (bool(node) and one.node == node and (not one.path or _alike(one.path, path)))


def _alike(place: str, path: str) -> bool:
    """Whether a frame may be one of that test's: its own file, or one of another, such as a helper or a fixture."""
    return place == path or place.endswith(f"/{path}") or not re.search(r"(?:^|/)test_\w+\.py$|_test\.py$", place)


def _end_of_summed(lines: Sequence[str], at: int) -> int:
    """Behind the rest of a message of several lines."""
    end = at + 1
    while end < len(lines) and lines[end] and not lines[end].startswith(("FAILED ", "ERROR ", "SUBFAIL", "=", "!")):
        if re.match(r"\d+ \w+", lines[end]):
            break
        end += 1
    return end


_UNIT = re.compile(r"(?:FAIL|ERROR): (?P<test>[^\s(]+)(?: \((?P<where>[\w.<>]+)\))?(?P<row> .*)?$")
_UNIT_RULE = re.compile(r"(?:={60,}|-{60,})$")
_UNIT_RAN = re.compile(r".*\.\.\. (?:FAIL|ERROR)$")


def read_unittest(lines: Sequence[str]) -> Iterator[Section]:
    """Each test by its dotted name; the rows of a `subTest` are one test, as in unittest's own figures of what ran."""
    found_any = False
    for at, found in matching(lines, _UNIT, ": "):
        rule = next((line for line in range(at + 1, min(at + 5, len(lines))) if _UNIT_RULE.match(lines[line])), None)
        if rule is None:
            continue
        found_any = True
        end = until(lines, rule, _UNIT_RULE)
        yield Section(_unit_name(found["test"], found["where"]), _raised(lines[rule + 1 : end]), range(at, end))
    if found_any:
        yield from (single(at) for at, _ in matching(lines, _UNIT_RAN, "... "))


def _unit_name(test: str, where: str | None) -> str:
    if where is None or where.endswith(f".{test}"):
        return where or test
    return test if where.startswith("unittest.loader.") else f"{where}.{test}"


def _raised(lines: Sequence[str]) -> str:
    """The error below the last traceback."""
    last = max((at for at, line in enumerate(lines) if line.lstrip().startswith('File "')), default=-1)
    own = [line for line in lines[last + 1 :] if line[:1].strip()]
    return summary_line(own[:1])
