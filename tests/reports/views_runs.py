"""Runs to tell about, one for each kind of message."""

from __future__ import annotations

from typing import Any

from bot.model import (
    ErrorDelta,
    Issue,
    KnownError,
    Phase,
    Proof,
    PullRequestRef,
    Resolution,
    RunView,
    Status,
)
from bot.model.reasons import ExplainedStop, Reason
from bot.model.report_views import Conflict
from bot.rules.reasons import make_reason, quoted
from tests.reports.run_attempts import PATHS, Try, lived
from tests.reports.views_proof import COVERED, LINT_PASSES, STYLE_ONLY, TEST_FIRST, TEST_PASSES, UNPROVEN
from tests.reports.views_steps import (
    GREEN,
    LINT,
    LINT_FAILED,
    NO_TYPES,
    RED,
    TEST,
    TEST_FAILED,
    UNTIDY,
    annotation,
    checked,
)

__all__ = [
    "BY_BOT",
    "BY_PERSON",
    "LINT",
    "LINT_FAILED",
    "LONG_LINE",
    "NONE_ERROR",
    "NO_TYPES",
    "ONE",
    "SIMILAR",
    "TEST",
    "TEST_FAILED",
    "annotation",
    "make_view",
]

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
        "reasons": (
            make_reason("group.shared.component", count=3, key="cart", number=7),
            make_reason("group.from.label", number=7, what="component:cart"),
            make_reason("group.from.line", number=9),
        ),
        "branch": "fix/issue-7-9-12",
    }
)


PULL = "https://github.com/acme/shop/pull/34"


def _view(base: RunView, **changes: Any) -> RunView:
    return base.model_copy(update={"sandbox": make_reason("sandbox.bubblewrap", version="bubblewrap 0.11"), **changes})


def _success(base: RunView, proof: Proof = TEST_PASSES, **changes: Any) -> RunView:
    return _view(
        base,
        status=Status.SUCCESS,
        phase=Phase.PACKAGING,
        baseline=GREEN if proof.before == "green" else RED,
        duration_ms=96_000,
        commit_sha="c" * 40,
        pull=PullRequestRef(number=34, url=PULL, draft=not proof.proven),
        proof=proof,
        **changes,
    )


def _by(agent: str, why: Reason) -> Reason:
    return make_reason("agent", agent=agent, why=why)


def _failed(base: RunView, reason: str, details: Reason, **changes: Any) -> RunView:
    stop = ExplainedStop(reason=reason, details=details)
    return _view(base, status=Status.FAILED, stop=stop, baseline=RED, duration_ms=96_000, **changes)


UNFINISHED = """\
diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -1,2 +1,2 @@
 def total(items):
-    return None
+    return sum(items) or None  # ask @acme/core
"""
_NPM = make_reason("setup.exit", command="npm ci", code="1", block="npm error code ENOTFOUND")
_UNLABELLED = make_reason("stop.unlabelled", by="ann", label="auto-fix", number=7)
SALVAGE = "refs/mendbot/salvage/fix-7f3a9c"
NONE_ERROR = "E assert None == 0"
TYPE_ERROR = "E TypeError: total() takes 0 positional arguments"
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
MOVED = ErrorDelta(
    fixed=(TYPE_ERROR,),
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
    running = lived(
        _view(THREE, status=Status.RUNNING, phase=Phase.VALIDATION, baseline=RED),
        ("fixers", UNTIDY, (LONG_LINE,)),
        base=(NONE_ERROR,),
    ).model_copy(update={"attempt": 2})
    colliding = (
        Conflict(issues=(14,), pull=45, paths=("shop/cart.py",)),
        Conflict(issues=(16, 18), paths=("a.py", "b.py", "c.py", "d`@ann.py")),
    )
    return {
        "queued": _view(THREE, waiting_for=make_reason("wait.slot", limit=3)),
        "queued-soon": _view(ONE),
        "queued-paused": _view(ONE, waiting_for=make_reason("wait.paused", number=7, by="ann")),
        "queued-paths": _view(ONE, waiting_for=make_reason("wait.paths", issues="#14", paths="`shop/cart.py`")),
        "queued-conflict": _view(THREE, conflicts=colliding),
        "preparing": _view(ONE, status=Status.RUNNING, phase=Phase.DESIGN),
        "running": running,
        "running-known": running.model_copy(update={"guidance": (BY_PERSON, BY_BOT), "error_delta": MOVED}),
    }


def _done() -> dict[str, RunView]:
    flaky = checked(LINT, TEST.model_copy(update={"flaky": True}))
    fixed: Try = ("fixers", GREEN, ())
    by_command: Try = ("command:mend-it", GREEN, ())
    base = (NONE_ERROR,)
    notes = (
        make_reason("weak.ignored", path="shop/cart.py", what="`type: ignore`"),
        make_reason("weak.snapshots", path="tests/__snapshots__/cart `@ann #1`.snap"),
    )
    return {
        "success": lived(_success(ONE, changed_paths=PATHS), fixed, base=base),
        "success-group": lived(
            _success(
                THREE,
                LINT_PASSES,
                changed_paths=tuple(f"shop/part_{number}.py" for number in range(8)),
                conflicts=(Conflict(issues=(14,), pull=45, paths=("shop/part_0.py",)),),
            ).model_copy(update={"baseline": UNTIDY}),
            ("fixers", UNTIDY, (LONG_LINE,)),
            ("command:mend-it", flaky, ()),
            base=base,
        ),
        "success-notes": lived(_success(ONE, notes=notes, changed_paths=PATHS), by_command, base=base),
        "success-test-first": lived(_success(ONE, TEST_FIRST, changed_paths=PATHS), by_command, base=()),
        "success-covered": lived(_success(ONE, COVERED, changed_paths=PATHS), by_command, base=()),
        "success-unshown": lived(_success(ONE, UNPROVEN, changed_paths=PATHS), by_command, base=()),
        "success-unshown-open": lived(
            _success(THREE, STYLE_ONLY, changed_paths=PATHS).model_copy(
                update={"baseline": UNTIDY, "pull": PullRequestRef(number=34, url=PULL)}
            ),
            fixed,
            base=(LONG_LINE,),
        ),
        "success-session": lived(_success(SESSION, changed_paths=PATHS), by_command, base=base),
    }


def _ended() -> dict[str, RunView]:
    timed_out = TEST_FAILED.model_copy(
        update={"timed_out": True, "exit_code": -9, "duration_ms": 300_000, "output": "", "classification": "runtime"}
    )
    large = timed_out.model_copy(update={"timed_out": False, "over_memory_mb": 6144, "duration_ms": 42_000})
    return {
        "failed": lived(
            _failed(
                THREE,
                "max_iterations",
                make_reason("max_iterations", done=3, most=3),
                salvage_ref=SALVAGE,
                unfinished=UNFINISHED,
            ),
            ("fixers", UNTIDY, (LONG_LINE,)),
            ("command:mend-it", RED, (NONE_ERROR,)),
            base=(NONE_ERROR, TYPE_ERROR),
            attempt=3,
        ),
        "failed-timeout": lived(
            _failed(ONE, "no_progress", make_reason("no_progress", count=3)),
            ("command:mend-it", checked(LINT, timed_out), ()),
            base=(),
        ),
        "failed-memory": lived(
            _failed(ONE, "no_progress", make_reason("no_progress", count=3)),
            ("command:mend-it", checked(LINT, large), ()),
            base=(),
        ),
        "failed-nothing": lived(
            _failed(ONE, "nothing_to_offer", _by("fixers", make_reason("fixers.nothing"))),
            base=(NONE_ERROR,),
            attempt=1,
        ),
        "failed-setup": _failed(ONE, "setup_failed", _NPM).model_copy(update={"baseline": None}),
        "failed-refused": lived(
            _failed(
                ONE,
                "max_iterations",
                make_reason("max_iterations", done=3, most=3),
                rejections=(
                    _by("command", make_reason("refused.workflow", path="'.github/workflows/x.yml'")),
                    _by("command", make_reason("patch.misfit", path="shop/total.py", why="@ann <!-- look -->")),
                    _by("command", make_reason("patch.misfit", path="shop/total.py", why="@ann <!-- look -->")),
                ),
            ),
            base=(NONE_ERROR,),
            attempt=3,
        ),
        "failed-proof": lived(
            _failed(
                ONE,
                "proof_required",
                make_reason(
                    "proof_required",
                    required=make_reason("proof_level.proven"),
                    level=make_reason("proof_level.covered"),
                ),
                salvage_ref=SALVAGE,
                unfinished=UNFINISHED,
                proof=COVERED,
            ).model_copy(update={"baseline": GREEN}),
            ("command:mend-it", GREEN, ()),
            ("command:mend-it", GREEN, ()),
            base=(),
            attempt=3,
        ),
        "cancelled": lived(
            _view(
                ONE,
                status=Status.CANCELLED,
                stop=ExplainedStop(reason="cancelled", details=_UNLABELLED),
                salvage_ref=SALVAGE,
                unfinished=UNFINISHED,
            ),
            base=(NONE_ERROR,),
            attempt=1,
        ),
    }


def _stopped() -> dict[str, RunView]:
    """Each reason that has words of its own, and one that has none."""
    told = make_reason("stuck_error", count=3, error="E assert None == 0 # ask @ann")
    finding = TEST_FAILED.annotations[0].model_copy(update={"message": "assert None == 0\n+  where None = total([])"})
    red = checked(LINT, TEST_FAILED.model_copy(update={"annotations": (finding, annotation(14))}))
    return {
        "failed-known": lived(
            _failed(
                ONE,
                "stuck_error",
                told,
                guidance=(BY_PERSON, BY_BOT, SIMILAR),
                recognised=((finding, BY_PERSON),),
                seen=((NONE_ERROR, 3, "2026-05-04T10:00:00+00:00"), (LONG_LINE, 12, ""), (TYPE_ERROR, 9, "2026-01")),
            ),
            ("command:mend-it", RED, (TYPE_ERROR, NONE_ERROR)),
            ("command:mend-it", red, (*MOVED.remaining, *MOVED.introduced)),
            base=(TYPE_ERROR, NONE_ERROR),
        ).model_copy(update={"error_delta": MOVED}),
        "failed-seen": lived(
            _failed(ONE, "max_iterations", make_reason("max_iterations", done=1, most=1)).model_copy(
                update={"guidance": (BY_PERSON,), "seen": ((NONE_ERROR, 3, "2026-05-04T10:00:00+00:00"),)}
            ),
            ("command:mend-it", red, (NONE_ERROR,)),
            base=(NONE_ERROR,),
        ),
        "failed-same-patch": _failed(ONE, "same_patch", _by("history", make_reason("tried.help"))),
        "failed-oscillation": lived(
            _failed(ONE, "oscillation", make_reason("oscillation.error", then=0, now=2)),
            ("fixers", RED, (TYPE_ERROR,)),
            ("command:mend-it", RED, (NONE_ERROR,)),
            base=(NONE_ERROR,),
        ),
        "failed-weakened": _failed(
            ONE,
            "weakened_tests",
            make_reason("weak.deleted", path="tests/test_cart.py", count=1, names="test_total_of_none"),
        ),
        "failed-abandoned": _failed(SESSION, "abandoned", make_reason("abandoned")),
        "failed-unknown": _failed(ONE, "stale", quoted("the issue @ann wrote is gone")),
    }


def make_view(name: str) -> RunView:
    """The run of that name; a KeyError names the ones there are."""
    views = _going() | _done() | _ended() | _stopped()
    return views[name]
