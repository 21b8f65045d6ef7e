"""Failed tests in a JUnit report that a runner printed into its log, as mocha's `xunit` and vitest's `junit` do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.rules.failures.junit import LINTER_RULE, JunitCase, Unreadable, read_junit
from bot.rules.test_runners.failed_tests import Guarded
from bot.rules.test_runners.sections import Section, summary_line

BEGINS = re.compile(r"\s*(?:<\?xml |<testsuites?\b)")
_ENDS = re.compile(r".*</testsuites?>\s*$")


def read_printed_junit(lines: Sequence[str]) -> Iterator[Section]:
    """By class and name; nothing where the report is no complete XML."""
    start = next((at for at, line in enumerate(lines) if "<" in line and BEGINS.match(line)), -1)
    end = next((at for at in range(len(lines) - 1, start, -1) if "</testsuite" in lines[at]), -1)
    if start < 0 or end < start or not _ENDS.match(lines[end]):
        return
    cases = read_junit("\n".join(lines[start : end + 1]))
    for case in () if isinstance(cases, Unreadable) else cases:
        if case.failures and case.name and not LINTER_RULE.match(case.name):
            message, pieces = case.failures[0]
            text = message.strip() or "".join(pieces).strip()
            yield Section(_full_name(case), summary_line(text.splitlines()), range(start, end + 1))


def _full_name(case: JunitCase) -> str:
    around = case.classname or case.file
    return case.name if not around or case.name.startswith(around) else f"{around} › {case.name}"


PRINTED_JUNIT: Guarded = (("<testsuite",), read_printed_junit)
