"""Checks as they ended, for the runs and pull requests to tell about."""

from __future__ import annotations

from typing import Any

from bot.model import Annotation, SuiteCounts, Validation, ValidationStep
from bot.rules.parsed_output import parse_output

PYTEST_LOG = """\
F..........                                                              [100%]
=================================== FAILURES ===================================
______________________________ test_total_of_none ______________________________

    def test_total_of_none():
>       assert total([]) == 0
E       assert None == 0
E        +  where None = total([])

tests/test_cart.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total_of_none - assert None == 0
1 failed, 11 passed in 0.31s"""


def counted(output: str) -> SuiteCounts:
    return parse_output(output, "test").tests.counts


def annotation(line: int, level: Any = "failure") -> Annotation:
    return Annotation(
        path="shop/cart.py", start_line=line, end_line=line, level=level, message="line too long", rule="E501"
    )


LINT = ValidationStep(command="ruff check .", stage="lint", passed=True, exit_code=0, duration_ms=84)
TYPES = ValidationStep(command="mypy shop", stage="typecheck", passed=True, exit_code=0, duration_ms=3210)
TEST = ValidationStep(
    command="pytest -q",
    stage="test",
    passed=True,
    exit_code=0,
    duration_ms=12_400,
    output="12 passed in 0.31s",
    test_counts=counted("12 passed in 0.31s"),
)
NO_TYPES = ValidationStep(command="", stage="typecheck", passed=False, skipped=True)
TEST_FAILED = TEST.model_copy(
    update={
        "passed": False,
        "exit_code": 1,
        "output": PYTEST_LOG,
        "test_counts": counted(PYTEST_LOG),
        "classification": "test",
        "annotations": (annotation(12),),
    }
)
LINT_FAILED = LINT.model_copy(
    update={
        "passed": False,
        "exit_code": 1,
        "classification": "lint",
        "output": "shop/cart.py:3:1: E501 Line too long (140 > 88)\nFound 2 errors.",
        "annotations": (annotation(3, "warning"), annotation(9)),
    }
)


def checked(*steps: ValidationStep) -> Validation:
    return Validation(passed=all(step.passed or step.skipped for step in steps), summary="", steps=steps)


GREEN = checked(LINT, TYPES, TEST)
RED = checked(LINT, NO_TYPES, TEST_FAILED)
UNTIDY = checked(LINT_FAILED)
