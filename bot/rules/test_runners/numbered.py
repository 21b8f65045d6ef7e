"""Failed tests in logs that number them: mocha, RSpec, Jasmine, PHPUnit, minitest and Playwright; and behave's list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bot.rules.test_runners.sections import Section, matching, single, summary_line, until

_NUMBERED = re.compile(r" {0,4}\d+\) ")


class _Listing(NamedTuple):
    """How one runner numbers: the line above its list, a heading in it, and what ends it."""

    above: re.Pattern[str]
    part: str
    head: re.Pattern[str]
    end: re.Pattern[str]


_LISTINGS = (
    # RSpec
    _Listing(
        re.compile(r"Failures:$"),
        "Failures:",
        re.compile(r"  \d+\) (?P<name>.+)$"),
        re.compile(r"  \d+\) |Finished in |Failed examples:|\d+ examples?, "),
    ),
    # Jasmine
    _Listing(
        re.compile(r"Failures:$"),
        "Failures:",
        re.compile(r"\d+\) (?P<name>.+)$"),
        re.compile(r"\d+\) |\d+ specs?, |Finished in "),
    ),
    # PHPUnit
    _Listing(
        re.compile(r"There (?:was|were) \d+ (?:failure|error)s?:$"),
        "There w",
        re.compile(r"\d+\) (?P<name>\S+::.+?)(?: with data set (?P<row>\S+|\"[^\"]*\")(?: \(.*)?)?$"),
        re.compile(r"\d+\) |--$|FAILURES!$|ERRORS!$|There w"),
    ),
)


def read_numbered(lines: Sequence[str]) -> Iterator[Section]:
    """RSpec's, Jasmine's and PHPUnit's lists. A row of PHPUnit's data is a test, without its values."""
    for listing in _LISTINGS:
        above = [at for at, _ in matching(lines, listing.above, listing.part)]
        for at, found in matching(lines, listing.head, ") "):
            if not any(line < at for line in above):
                continue
            end = until(lines, at, listing.end)
            row = found.groupdict().get("row")
            name = f"{found['name']} with data set {row}" if row else found["name"]
            yield Section(name, summary_line(_own_words(lines[at + 1 : end])), range(at, end))
    for at, line in enumerate(lines):
        if line.startswith("rspec ") or "(FAILED - " in line:
            yield single(at)


def _own_words(lines: Sequence[str]) -> Iterator[str]:
    """Without what only heads the message, and the code that RSpec quotes beside such a head."""
    return (line for line in lines if line.strip() != "Message:" and not line.lstrip().startswith("Failure/Error: "))


_MOCHA_FAILING = re.compile(r"\s+\d+ failing$")
_MOCHA_HEAD = re.compile(r"  (?P<number>\d+)\) (?P<name>.+)$")
_MOCHA_TREE = re.compile(r"\s+\d+\) \S")


def read_mocha(lines: Sequence[str]) -> Iterator[Section]:
    """By the path of titles, which stand below one another until one ends with a colon."""
    start = max((at for at, _ in matching(lines, _MOCHA_FAILING, " failing")), default=-1)
    if start < 0:
        return
    yield from (single(at) for at, _ in matching(lines[:start], _MOCHA_TREE, ") "))
    heads = [at for at in range(start, len(lines)) if _MOCHA_HEAD.match(lines[at])]
    for place, at in enumerate(heads):
        end = heads[place + 1] if place + 1 < len(heads) else _end_of_last(lines, at)
        titles = [lines[at].split(") ", 1)[1]]
        body = at + 1
        while not titles[-1].endswith(":") and body < end and lines[body].startswith("       "):
            titles.append(lines[body].strip())
            body += 1
        yield Section(" ".join(titles).removesuffix(":"), summary_line(lines[body:end]), range(at, end))


def _end_of_last(lines: Sequence[str], at: int) -> int:
    return next((end for end in range(at + 2, len(lines)) if not lines[end] and not lines[end - 1]), len(lines))


_MINITEST = re.compile(r"  \d+\) (?:Failure|Error):$")
_MINITEST_TEST = re.compile(r"(?P<name>\S+#.+?)(?: \[[^\]]+:\d+\])?:$")
_MINITEST_END = re.compile(r"  \d+\) (?:Failure|Error):$|\d+ (?:runs|tests), ")


def read_minitest(lines: Sequence[str]) -> Iterator[Section]:
    for at, _ in matching(lines, _MINITEST, ") "):
        named = _MINITEST_TEST.match(lines[at + 1]) if at + 1 < len(lines) else None
        if named is not None:
            end = until(lines, at, _MINITEST_END)
            yield Section(named["name"], summary_line(lines[at + 2 : end]), range(at, end))


_PLAYWRIGHT = re.compile(r"  \d+\) (?P<name>(?:\[[^\]]*\] › )?\S+?)(?::\d+:\d+) › (?P<title>.+?)[ ─]*$")
_PLAYWRIGHT_END = re.compile(r"  \d+\) |  \d+ (?:failed|flaky|passed|did not run)")
_PLAYWRIGHT_LIST = re.compile(r"\s+(?:✘\s+\d+ )?(?:\[[^\]]*\] › )?\S+?:\d+:\d+ › ")


def read_playwright(lines: Sequence[str]) -> Iterator[Section]:
    """By project, file and path of titles."""
    found_any = False
    for at, found in matching(lines, _PLAYWRIGHT, " › "):
        found_any = True
        end = until(lines, at, _PLAYWRIGHT_END)
        yield Section(f"{found['name']} › {found['title']}", summary_line(lines[at + 1 : end]), range(at, end))
    if found_any:
        yield from (single(at) for at, _ in matching(lines, _PLAYWRIGHT_LIST, " › "))


_BEHAVE = re.compile(r"Failing scenarios:$")
_BEHAVE_ONE = re.compile(r"  (?P<file>\S+\.feature):\d+  (?P<name>.+)$")


def read_behave(lines: Sequence[str]) -> Iterator[Section]:
    for start, _ in matching(lines, _BEHAVE, "Failing "):
        at = start + 1
        while at < len(lines) and (found := _BEHAVE_ONE.match(lines[at])) is not None:
            yield Section(f"{found['file']} › {found['name']}", "", range(at, at + 1))
            at += 1
        yield from (single(above) for above in range(start) if lines[above].lstrip().startswith("ASSERT FAILED:"))
