"""Runs to tell about, one for each kind of message."""

from __future__ import annotations

from typing import Any

from bot.model import (
    Annotation,
    Issue,
    KnownError,
    Movement,
    Phase,
    PullRequest,
    Resolution,
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


PATHS = ("shop/cart.py", "tests/test_cart.py")
SALVAGE = "refs/mendbot/salvage/fix-7f3a9c"
NONE_ERROR = "E assert None == 0"
LONG_LINE = "<PATH>/cart.py:<POS>: E501 line too long"
BY_PERSON = KnownError(
    id=7,
    error=NONE_ERROR,
    resolution=Resolution(
        resolved_by="ann",
        tool="Edit",
        tool_sequence=("Read", "Edit", "Bash"),
        how="start the sum at 0; see @acme/core and #3",
        repo="Acme/Shop",
        commit="0123456789abcdef0123456789abcdef01234567",
        pull_request=31,
        patch="--- a/shop/cart.py\n+++ b/shop/cart.py\n",
    ),
    use_count=2,
    last_used="2026-11-21T10:00:00.000+00:00",
)
BY_BOT = KnownError(
    id=8,
    error=LONG_LINE,
    resolution=Resolution(
        resolved_by="mendbot[bot]",
        tool="fixers",
        tool_sequence=("Edit shop/cart.py", "ruff check ."),
        repo="acme/shop",
        pull_request=12,
    ),
)
SIMILAR = KnownError(
    id=9,
    error="E assert None == 3",
    exact=False,
    resolution=Resolution(how="--> look <!-- here\n```\n</details>", repo="acme/elsewhere", pull_request=5),
)
MOVED = Movement(
    fixed=("E TypeError: total() takes 0 positional arguments",),
    remaining=(NONE_ERROR,),
    introduced=(LONG_LINE, "<PATH>/cart.py:<POS>: F401 `os` imported but unused", "E assert 1 == 2"),
)
SESSION = ONE.model_copy(
    update={
        "issues": (),
        "key": "## Add a way to empty the cart, with a button that asks first, and say what",
        "task": "## Add a way to empty the cart, with a button that asks first, and say what was in it\n\n"
        "Closes #3, and ask @acme/core.\n\n```\nnothing else\n```",
        "branch": "fix/session-5b21",
    }
)


def _going() -> dict[str, RunView]:
    running = _view(
        THREE,
        status=Status.RUNNING,
        phase=Phase.VALIDATION,
        attempt=2,
        baseline=RED,
        validations=(UNTIDY,),
        agents=("fixers",),
    )
    return {
        "queued": _view(THREE, waiting_for="a free worktree (3 of 3 in use)"),
        "queued-soon": _view(ONE),
        "preparing": _view(ONE, status=Status.RUNNING, phase=Phase.DESIGN),
        "running": running,
        "running-known": running.model_copy(update={"guidance": (BY_PERSON, BY_BOT), "movement": MOVED}),
    }


def _done() -> dict[str, RunView]:
    flaky = checked(LINT, TEST.model_copy(update={"flaky": True}))
    one: dict[str, Any] = {"attempt": 1, "validations": (GREEN,), "changed_paths": PATHS}
    notes = (
        "shop/cart.py: 1 finding is silenced in place (# type: ignore); see that it is meant",
        "tests/__snapshots__/cart.snap: the snapshot `@ann #1` changed",
    )
    return {
        "success": _success(ONE, agents=("fixers",), **one),
        "success-group": _success(
            THREE,
            attempt=2,
            agents=("fixers", "command:mend-it"),
            validations=(UNTIDY, flaky),
            changed_paths=tuple(f"shop/part_{number}.py" for number in range(8)),
        ),
        "success-notes": _success(ONE, agents=("command:mend-it",), notes=notes, **one),
        "success-session": _success(SESSION, agents=("command:mend-it",), **one),
    }


def _ended() -> dict[str, RunView]:
    timed_out = TEST_FAILED.model_copy(
        update={"timed_out": True, "exit_code": -9, "duration_ms": 300_000, "output": "", "classification": "runtime"}
    )
    return {
        "failed": _failed(
            THREE,
            "max_iterations",
            "Reached maximum iterations (3/3)",
            attempt=3,
            agents=("fixers", "command:mend-it"),
            validations=(UNTIDY, RED),
            salvage_ref=SALVAGE,
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
            salvage_ref=SALVAGE,
        ),
    }


def _stopped() -> dict[str, RunView]:
    """Each reason that has words of its own, and one that has none."""
    told = "3 attempts in a row left the same error and won nothing beside it: E assert None == 0 # ask @ann"
    finding = TEST_FAILED.annotations[0].model_copy(update={"message": "assert None == 0\n+  where None = total([])"})
    red = checked(LINT, TEST_FAILED.model_copy(update={"annotations": (finding, annotation(14))}))
    return {
        "failed-known": _failed(
            ONE,
            "stuck_error",
            told,
            attempt=2,
            agents=("command:mend-it", "command:mend-it"),
            validations=(UNTIDY, red),
            guidance=(BY_PERSON, BY_BOT, SIMILAR),
            recognised=((finding, BY_PERSON),),
            movement=MOVED,
        ),
        "failed-same-patch": _failed(
            ONE, "same_patch", "history: this very change was tried against the same error before and did not help"
        ),
        "failed-oscillation": _failed(
            ONE, "oscillation", "going in circles: the tree of state 1 came back in state 3", validations=(UNTIDY, RED)
        ),
        "failed-weakened": _failed(
            ONE, "weakened_tests", "tests/test_cart.py: 1 test (test_total_of_none) deleted; keep what was tested"
        ),
        "failed-abandoned": _failed(SESSION, "abandoned", "the process that worked on it ended before it was done"),
        "failed-unknown": _failed(ONE, "stale", "the issue @ann wrote is gone"),
    }


def make_view(name: str) -> RunView:
    """The run of that name; a KeyError names the ones there are."""
    views = _going() | _done() | _ended() | _stopped()
    return views[name]
