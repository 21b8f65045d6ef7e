"""Which tests a log shows as failed: each once, by its name, however often its runner prints it.

One reader for each runner's format; a log may hold several, as `npm test` in a workspace does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.rules.test_runners.go import read_go
from bot.rules.test_runners.javascript import read_ava, read_bun, read_jest, read_node, read_uvu, read_vitest
from bot.rules.test_runners.numbered import read_behave, read_minitest, read_mocha, read_numbered, read_playwright
from bot.rules.test_runners.python import read_pytest, read_unittest
from bot.rules.test_runners.rust import read_cargo
from bot.rules.test_runners.sections import MAX_TESTS, Reader, Section
from bot.rules.test_runners.tap import read_tap

Guarded = tuple[tuple[str, ...], Reader]
# (texts of which a log must hold one for the reader to be asked, the reader)
_READERS: tuple[Guarded, ...] = (
    (("FAILED ", "ERROR ", "= FAILURES =", "= ERRORS =", "\n____"), read_pytest),
    (("\nFAIL: ", "\nERROR: "), read_unittest),
    (("\n  ● ",), read_jest),
    (("\n FAIL  ",), read_vitest),
    (("[fail]: ",), read_ava),
    (("\n   FAIL  ",), read_uvu),
    (("✖ failing tests:", "Failed tests:"), read_node),
    (("not ok ",), read_tap),
    (("--- FAIL: ",), read_go),
    (("... FAILED", "\n---- "), read_cargo),
    (("\n(fail) ",), read_bun),
    ((" failing\n",), read_mocha),
    (("Failures:\n", "There was ", "There were "), read_numbered),
    ((") Failure:\n", ") Error:\n"), read_minitest),
    ((" › ",), read_playwright),
    (("Failing scenarios:",), read_behave),
)


@dataclass(frozen=True, slots=True)
class FailedTest:
    """A test by its name, what is wrong in the tool's own words (may be empty), and its lines."""

    name: str
    message: str
    lines: tuple[range, ...]


@dataclass(frozen=True, slots=True)
class FailedTests:
    """The failed tests of a log, in order, and the indexes of all lines that belong to them alone."""

    tests: tuple[FailedTest, ...]
    covered: frozenset[int]


def failed_tests(lines: Sequence[str], *more: Guarded) -> FailedTests:
    """The tests that a log (`log_lines.log_lines`) shows as failed; none where its runner names none. `more` are asked
    after the readers known here."""
    text = "\n" + "\n".join(lines) + "\n"
    found: dict[str, list[Section]] = {}
    ranges: list[range] = []
    for guards, reader in (*_READERS, *more):
        if not any(guard in text for guard in guards):
            continue
        for section in reader(lines):
            ranges.append(section.lines)
            if section.name and (section.name in found or len(found) < MAX_TESTS):
                found.setdefault(section.name, []).append(section)
    tests = [_joined(name, sections) for name, sections in found.items()]
    tests.sort(key=lambda test: test.lines[0].start)
    return FailedTests(tuple(tests), _union(ranges))


def _union(ranges: list[range]) -> frozenset[int]:
    """The indexes in any of the ranges; each is looked at once, however much the ranges overlap."""
    covered: set[int] = set()
    reached = 0
    for lines in sorted(ranges, key=lambda lines: lines.start):
        covered.update(range(max(lines.start, reached), lines.stop))
        reached = max(reached, lines.stop)
    return frozenset(covered)


def _joined(name: str, sections: Sequence[Section]) -> FailedTest:
    message = next((section.message for section in sections if section.message), "")
    return FailedTest(name, message, tuple(section.lines for section in sections))
