"""Runs to tell about, one for each kind of message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.model import (
    Annotation,
    Issue,
    Phase,
    PullRequest,
    RunView,
    Status,
    StopReason,
    Validation,
    ValidationStep,
)

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


def annotation(line: int, level: Any = "failure") -> Annotation:
    return Annotation(
        path="shop/cart.py", start_line=line, end_line=line, level=level, message="line too long", rule="E501"
    )


LINT = ValidationStep(command="ruff check .", stage="lint", passed=True, exit_code=0, duration_ms=84)
TYPES = ValidationStep(command="mypy shop", stage="typecheck", passed=True, exit_code=0, duration_ms=3210)
TEST = ValidationStep(
    command="pytest -q", stage="test", passed=True, exit_code=0, duration_ms=12_400, output="12 passed in 0.31s"
)
NO_TYPES = ValidationStep(command="", stage="typecheck", passed=False, skipped=True)
TEST_FAILED = TEST.model_copy(
    update={
        "passed": False,
        "exit_code": 1,
        "output": PYTEST_LOG,
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

ONE = RunView(
    run_id="fix-7f3a9c",
    repo="acme/shop",
    issues=(Issue(number=7, title="Cart total is None for an empty cart"),),
    key="cart",
    branch="fix/issue-7",
    base_sha="1f0c5a8e9d" + "0" * 30,
)
THREE = ONE.model_copy(
    update={
        "issues": (
            Issue(number=7, title="bug: Cart total is None for an empty cart"),
            Issue(number=9, title="Ask @acme/core: does `total()` close #3?"),
            Issue(number=12, title="Rounding <b>is</b> off"),
        ),
        "reasons": ("same component: cart",),
        "branch": "fix/issue-7-9-12",
    }
)


def _view(base: RunView, **changes: Any) -> RunView:
    return base.model_copy(update={"sandbox": "bubblewrap 0.11 (no network, own processes)", **changes})


def _success(base: RunView, **changes: Any) -> RunView:
    return _view(
        base,
        status=Status.SUCCESS,
        phase=Phase.PACKAGING,
        baseline=RED,
        duration_ms=96_000,
        commit_sha="c" * 40,
        pull=PullRequest(number=34, url="https://github.com/acme/shop/pull/34"),
        **changes,
    )


def _failed(base: RunView, reason: str, details: str, **changes: Any) -> RunView:
    stop = StopReason(reason=reason, details=details)
    return _view(base, status=Status.FAILED, stop=stop, baseline=RED, duration_ms=96_000, **changes)


def make_view(name: str) -> RunView:
    """The run of that name; a KeyError names the ones there are."""
    timed_out = TEST_FAILED.model_copy(
        update={"timed_out": True, "exit_code": -9, "duration_ms": 300_000, "output": "", "classification": "runtime"}
    )
    flaky = checked(LINT, TEST.model_copy(update={"flaky": True}))
    paths = ("shop/cart.py", "tests/test_cart.py")
    salvage = "refs/mendbot/salvage/fix-7f3a9c"
    views = {
        "queued": _view(THREE, waiting_for="a free worktree (3 of 3 in use)"),
        "queued-soon": _view(ONE),
        "preparing": _view(ONE, status=Status.RUNNING, phase=Phase.DESIGN),
        "running": _view(
            THREE,
            status=Status.RUNNING,
            phase=Phase.VALIDATION,
            attempt=2,
            baseline=RED,
            validations=(UNTIDY,),
            agents=("fixers",),
        ),
        "success": _success(ONE, attempt=1, agents=("fixers",), validations=(GREEN,), changed_paths=paths),
        "success-group": _success(
            THREE,
            attempt=2,
            agents=("fixers", "command:mend-it"),
            validations=(UNTIDY, flaky),
            changed_paths=tuple(f"shop/part_{number}.py" for number in range(8)),
        ),
        "failed": _failed(
            THREE,
            "max_iterations",
            "Reached maximum iterations (3/3)",
            attempt=3,
            agents=("fixers", "command:mend-it"),
            validations=(UNTIDY, RED),
            salvage_ref=salvage,
        ),
        "failed-timeout": _failed(
            ONE,
            "no_progress",
            "No progress detected for 3 consecutive iterations",
            attempt=1,
            agents=("command:mend-it",),
            validations=(checked(LINT, timed_out),),
        ),
        "failed-nothing": _failed(ONE, "nothing_to_offer", "fixers: no fixer changed anything"),
        "failed-setup": _failed(ONE, "setup_failed", "npm ci\nexit code 1\nnpm error code ENOTFOUND").model_copy(
            update={"baseline": None}
        ),
        "failed-refused": _failed(
            ONE,
            "max_iterations",
            "Reached maximum iterations (3/3)",
            attempt=3,
            troubles=(
                "command: the change to .github/workflows/x.yml is refused: workflow files are protected",
                "command: the diff of `shop/total.py` does not apply; @ann <!-- look -->",
                "command: the diff of `shop/total.py` does not apply; @ann <!-- look -->",
            ),
        ),
        "cancelled": _view(
            ONE,
            status=Status.CANCELLED,
            stop=StopReason(reason="cancelled", details="label auto-fix was removed by ann"),
            salvage_ref=salvage,
        ),
    }
    return views[name]


@pytest.fixture
def view() -> Callable[[str], RunView]:
    return make_view
