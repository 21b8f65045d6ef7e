"""What the rules read from a text, without the log in between."""

from __future__ import annotations

from bot.model import Annotation, ShownFailure
from bot.rules.excerpts import excerpts
from bot.rules.failures import errors
from bot.rules.failures.annotations import MAX_ANNOTATIONS, find_annotations
from bot.rules.failures.errors import Printed
from bot.rules.failures.junit import Unreadable, read_junit
from bot.rules.failures.log import read_log
from bot.rules.report_files.junit_annotations import junit_annotations
from bot.rules.test_results.printed_tests import printed_tests
from bot.rules.test_results.suite_result import SuiteResult


def annotations(text: str, stage: str, tree: str, limit: int = MAX_ANNOTATIONS) -> tuple[Annotation, ...]:
    return find_annotations(read_log(text, tree), stage, limit)


def printed_errors(text: str) -> dict[str, Printed]:
    return errors.printed_errors(read_log(text))


def first_error_paragraph(text: str, max_lines: int = 40) -> str:
    return errors.first_error_paragraph(read_log(text), max_lines)


def shown_failures(text: str, tree: str = "") -> tuple[ShownFailure, ...]:
    return excerpts.shown_failures(read_log(text, tree))


def junit(text: str, stage: str, tree: str, limit: int = MAX_ANNOTATIONS) -> tuple[Annotation, ...] | Unreadable:
    cases = read_junit(text)
    return cases if isinstance(cases, Unreadable) else junit_annotations(cases, stage, tree, limit)


def ran_tests(text: str) -> SuiteResult | None:
    return printed_tests(read_log(text).lines).result()
