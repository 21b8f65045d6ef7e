"""Failed tests in a JUnit report that a runner printed into its log, as mocha's `xunit` and vitest's `junit` do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.rules.failures.junit import failed_cases
from bot.rules.test_runners.failed_tests import Guarded
from bot.rules.test_runners.sections import Section, told

_BEGINS = re.compile(r"\s*(?:<\?xml |<testsuites?\b)")
_ENDS = re.compile(r".*</testsuites?>\s*$")


def read_junit(lines: Sequence[str]) -> Iterator[Section]:
    """By class and name; nothing where the report is no complete XML."""
    start = next((at for at, line in enumerate(lines) if "<" in line and _BEGINS.match(line)), -1)
    end = next((at for at in range(len(lines) - 1, start, -1) if "</testsuite" in lines[at]), -1)
    if start < 0 or end < start or not _ENDS.match(lines[end]):
        return
    for name, message in failed_cases("\n".join(lines[start : end + 1])):
        yield Section(name, told(message.splitlines()), range(start, end + 1))


PRINTED_JUNIT: Guarded = (("<testsuite",), read_junit)
