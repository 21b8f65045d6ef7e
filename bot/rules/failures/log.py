"""The log of one execution: its lines, and the failed tests and places in them, each found once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.rules.failures.junit_in_logs import PRINTED_JUNIT
from bot.rules.failures.log_lines import log_lines
from bot.rules.failures.places import Place, named_places
from bot.rules.test_runners.failed_tests import FailedTests, failed_tests


@dataclass(frozen=True)
class Log:
    """The lines of `log_lines`; absolute paths below `tree` are made relative to it."""

    lines: Sequence[str]
    tree: str = ""

    @cached_property
    def tests(self) -> FailedTests:
        return failed_tests(self.lines, PRINTED_JUNIT)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        return tuple(named_places(self.lines, self.tree))


def read_log(output: str, tree: str = "") -> Log:
    """The log that a command printed; `tree` is the absolute path of the work tree."""
    return Log(log_lines(output), tree)
