"""What one execution of a check printed, parsed once: reports, history and stop rules read this, never the log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.model import Annotation, ShownFailure
from bot.rules.excerpts.excerpts import shown_failures
from bot.rules.failures.annotations import find_annotations
from bot.rules.failures.errors import Printed, printed_errors
from bot.rules.failures.log import Log, read_log
from bot.rules.test_results.printed_tests import PrintedTests, printed_tests

_BARE_PATH = re.compile(r"[^\s:()\"'`]{1,400}\.\w{1,10}")
_MAX_PATHS = 200
_JUDGES_CODE = ("lint", "typecheck")
_RUNS_TESTS = ("test", "custom")


@dataclass(frozen=True, slots=True)
class ParsedOutput:
    """`errors` are by fingerprint; with `failures` and `listed_files` they are those of a check that failed."""

    annotations: tuple[Annotation, ...] = ()
    errors: Mapping[str, Printed] = field(default_factory=dict)
    failures: tuple[ShownFailure, ...] = ()
    listed_files: tuple[str, ...] = ()
    """Files that stand alone on a line, as `gofmt -l` names what is not formatted."""
    tests: PrintedTests = field(default_factory=PrintedTests)

    @property
    def first_error_block(self) -> str:
        """At most 40 lines and 3,000 characters; empty for an empty log."""
        return self.failures[0].block if self.failures else ""


def parse_output(output: str, stage: str, tree: str = "", *, passed: bool = False, note: str = "") -> ParsedOutput:
    """Parse the output of a check, or of a step of the setup. `tree` is the absolute path of the work tree.

    What tests print in a run that passed is no finding; a linter or a type checker may warn all the same. `note` is
    how we ended the command at a limit: an error as well, but none that the tool shows."""
    log = read_log(output, tree)
    tests = printed_tests(log.lines) if stage in _RUNS_TESTS else PrintedTests()
    found = () if passed and stage not in _JUDGES_CODE else find_annotations(log, stage)
    if passed:
        return ParsedOutput(annotations=warnings_if(True, stage, found), tests=tests)
    return ParsedOutput(
        annotations=found,
        errors=printed_errors(read_log(f"{output}\n{note}", tree) if note else log),
        failures=shown_failures(log),
        listed_files=_listed_files(log),
        tests=tests,
    )


def warnings_if(passed: bool, stage: str, found: tuple[Annotation, ...]) -> tuple[Annotation, ...]:
    """Of a check that passed, the warnings of a tool that judges code; of one that failed, all annotations."""
    if not passed:
        return found
    return tuple(one for one in found if one.level != "failure") if stage in _JUDGES_CODE else ()


def _listed_files(log: Log) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(_BARE_PATH.fullmatch, log.lines)))[:_MAX_PATHS]
