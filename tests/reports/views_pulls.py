"""Checks of pull requests to tell about, one for each kind of message."""

from __future__ import annotations

from typing import Any

from bot.config import POLICY_PATH
from bot.model import Language, RunView, Status, SuiteCounts
from bot.model.pulls import (
    NO_RUNS,
    CheckStatus,
    FailedOf,
    Failure,
    FailureHistory,
    FlakyRate,
    PullCheckReport,
    RunCounts,
    Verdict,
)
from bot.model.reasons import ExplainedStop, Reason
from bot.rules.reasons import make_reason
from tests.reports.views_runs import (
    BY_PERSON,
    LINT,
    LINT_FAILED,
    LONG_LINE,
    NO_TYPES,
    NONE_ERROR,
    SIMILAR,
    TEST,
    TEST_FAILED,
    make_view,
)

HEAD = "9f3c1ab25e" + "1" * 30
BASE = "1f0c5a8e9d" + "0" * 30
VIEW = PullCheckReport(
    run_id="pull-5b21",
    repo="acme/shop",
    github_url="https://github.com",
    number=41,
    title="Add a discount",
    author="eve",
    head_sha=HEAD,
    base_sha=BASE,
    status="done",
    sandbox=make_reason("sandbox.bubblewrap", version="bubblewrap 0.11"),
    fixable=True,
)
FINDING = TEST_FAILED.annotations[0].model_copy(
    update={"path": "tests/test_cart.py", "message": "assert None == 0\n+  where None = total([])"}
)
RED_TEST = TEST_FAILED.model_copy(update={"annotations": (FINDING,)})
NEW = Failure(
    error=NONE_ERROR,
    verdict="new",
    head=RunCounts(failed=4),
    base=RunCounts(passed=4),
    seen=FailureHistory(times=3, since="2026-05-04T10:00:00+00:00"),
    known=BY_PERSON,
)
FOUR, NINE = RunCounts(failed=4), RunCounts(passed=9)
ON_BASE = Failure(
    error="E assert 1 == 2",
    verdict="existing",
    head=RunCounts(failed=3),
    base=RunCounts(failed=3),
    seen=FailureHistory(times=1, since="2026-05-04"),
)
FLAKY = Failure(
    error="E ConnectionError: @acme/core closed #3",
    verdict="unsure",
    head=RunCounts(failed=1, passed=8),
    base=NINE,
    known=SIMILAR,
)
TEST_NAME = "tests/test_cart.py::test_total_of_none"
TEST_NEW = Failure(
    error=f"FAILED {TEST_NAME} - assert None == 0",
    verdict="new",
    head=FOUR,
    base=RunCounts(passed=4),
    test=TEST_NAME,
    said="assert None == 0",
)
LINT_NEW = Failure(error=LONG_LINE, verdict="new", head=RunCounts(failed=2))


def _verdict(verdict: Verdict, **fields: Any) -> Failure:
    """A failing test with that verdict."""
    return TEST_NEW.model_copy(update={"verdict": verdict, **fields})


VERDICT_VIEWS: dict[str, Failure] = {
    "new-test": TEST_NEW,
    "new-absent": _verdict("new", base=NO_RUNS, base_absent=True),
    "new-flaky": _verdict("new_flaky", head=RunCounts(failed=5, passed=4), base=NINE),
    "new-flaky-touched": _verdict("new_flaky", head=RunCounts(failed=5, passed=4), base=NINE, touched=True),
    "flaky-before": _verdict(
        "flaky_before",
        head=RunCounts(failed=2, passed=7),
        base=RunCounts(failed=1, passed=8),
        before=RunCounts(failed=9, passed=41),
    ),
    "existing-test": _verdict("existing", head=RunCounts(failed=3), base=RunCounts(failed=3)),
    "not-reached": _verdict("not_reached", head=RunCounts(failed=2), base=RunCounts(passed=1)),
    "unsure": _verdict("unsure", head=RunCounts(failed=1, passed=8), base=NINE),
}
"""One failing test for each verdict."""
WHOLE = Failure(error="", verdict="new")


def done(name: str = "test", *failures: Failure, **fields: Any) -> CheckStatus:
    return CheckStatus(name=name, status="completed", failures=failures, **fields)


def view_of(check: CheckStatus, *others: CheckStatus, **fields: Any) -> PullCheckReport:
    return VIEW.model_copy(update={"checks": (check, *others), **fields})


def _ended(reason: str, details: Reason) -> dict[str, Any]:
    return {"status": "cancelled", "stop": ExplainedStop(reason=reason, details=details)}


_LOOKED_FOR = (
    make_reason("looked_for.configured", check="lint", path=POLICY_PATH),
    make_reason("looked_for.script", names="lint"),
)
_TIMED_OUT = RED_TEST.model_copy(
    update={
        "timed_out": True,
        "exit_code": -9,
        "duration_ms": 300_000,
        "output": "",
        "annotations": (),
        "test_counts": SuiteCounts(),
    }
)
_LONG = RED_TEST.model_copy(update={"output": "\n".join([*(f"step {n}" for n in range(60)), RED_TEST.output])})
_KEPT = (
    done("lint", kept_from="pull-4a10"),
    done("typecheck", kept_from="pull-4a10"),
    done("e2e", FLAKY, kept_from="pull-4a10"),
)
_SETUP = LINT_FAILED.model_copy(
    update={"command": "npm ci", "output": "npm error code ENOTFOUND", "duration_ms": 3_200, "annotations": ()}
)
_WAITS = CheckStatus(name="test")
_SILENT = RED_TEST.model_copy(update={"output": "", "annotations": (), "test_counts": SuiteCounts()})
_PASSED_AGAIN = TEST.model_copy(update={"flaky": True})
_ELSEWHERE = NO_TYPES.model_copy(update={"stage": "typecheck"})

CHECKS: dict[str, tuple[CheckStatus, tuple[CheckStatus, ...], dict[str, Any]]] = {
    "queued": (_WAITS, (), {"status": "queued"}),
    "running": (_WAITS.model_copy(update={"status": "in_progress"}), _KEPT, {"status": "running"}),
    "passed": (done("lint", step=LINT), (), {}),
    "passed-tests": (done(step=TEST), _KEPT[:2], {}),
    "passed-flaky": (done(step=_PASSED_AGAIN), (), {}),
    "new": (done("test", NEW, step=_LONG), _KEPT, {}),
    "mixed": (done("test", FLAKY, ON_BASE, NEW, step=RED_TEST, rate=FlakyRate(flaky=3, runs=41)), (), {}),
    "flaky": (done("test", FLAKY, step=RED_TEST, rate=FlakyRate(flaky=3, runs=41)), (), {}),
    **{name: (done("test", failure, step=RED_TEST), (), {}) for name, failure in VERDICT_VIEWS.items()},
    "unmeasured": (
        done("test", VERDICT_VIEWS["unsure"], step=RED_TEST, unmeasured=make_reason("reach.child", what="git")),
        (),
        {},
    ),
    "broken-setup": (
        done("test", step=RED_TEST, because="base_setup", broken_setup=FailedOf(failed=9, ran=10)),
        (),
        {"fixable": False},
    ),
    "on-base": (done("test", ON_BASE, step=RED_TEST), (), {}),
    "no-base": (done("lint", LINT_NEW, step=LINT_FAILED, because="base_unknown"), (), {}),
    "base-setup": (done("lint", LINT_NEW, step=LINT_FAILED, because="base_setup"), (), {}),
    "base-absent": (done("lint", LINT_NEW, step=LINT_FAILED, because="base_absent"), (), {}),
    "setup": (done("lint", step=_SETUP, because="setup"), (), {"fixable": False}),
    "silent": (done("test", WHOLE, step=_SILENT), (), {"base_sha": "", "fixable": False}),
    "timeout": (done("test", WHOLE, step=_TIMED_OUT), (), {}),
    "kept": (_KEPT[0], _KEPT[1:], {}),
    "kept-flaky": (_KEPT[2], _KEPT[:2], {}),
    "skipped": (done("typecheck", step=_ELSEWHERE), (), {}),
    "unwanted-paths": (done("lint", because="paths"), (), {}),
    "not-found": (done("lint", looked_for=_LOOKED_FOR), (), {}),
    "kept-step": (done("test", ON_BASE, step=RED_TEST, kept_from="pull-4a10"), (), {}),
    "withdrawn": (_WAITS, (), _ended("withdrawn", make_reason("unwanted.draft"))),
    "superseded": (_WAITS, (), _ended("superseded", make_reason("stop.superseded", sha="ab12" * 10))),
    "cancelled": (_WAITS, (), _ended("cancelled", make_reason("stop.said", by="ann"))),
    "closed": (_WAITS, (), _ended("closed", make_reason("pull.closed"))),
    "retargeted": (_WAITS, (), _ended("retargeted", make_reason("pull.retargeted", branch="stable"))),
    "stopped": (_WAITS, (), _ended("internal_error", make_reason("fault", error="KeyError in @acme/core"))),
}


def pull_view(name: str) -> tuple[PullCheckReport, CheckStatus]:
    """The head and the check of that name; a KeyError names the ones there are."""
    check, others, fields = CHECKS[name]
    view = view_of(check, *others, **fields)
    return view, check


PATCH = """\
diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -1,3 +1,3 @@
 def total(items):
-    return None
+    return sum(items)
 # ``` @acme/core fixes #3 </details>
"""
FIXES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "queued": ("queued-soon", {}, {}),
    "paused": ("queued-paused", {}, {}),
    "waiting": ("queued", {}, {}),
    "started": ("preparing", {"phase": None}, {}),
    "preparing": ("preparing", {}, {}),
    "running": ("running-known", {}, {}),
    "pushing": ("success", {"status": Status.RUNNING}, {}),
    "pushed": ("success", {}, {}),
    "tried-twice": ("success-group", {}, {}),
    "fork-no-diff": ("success", {"commit_sha": None}, {"from_fork": True}),
    "fork": ("success", {"commit_sha": None}, {"from_fork": True, "patch": PATCH}),
    "unpushed": ("success", {"commit_sha": None}, {"patch": PATCH}),
    "nothing": ("success", {"commit_sha": None, "changed_paths": (), "proof": None}, {}),
    "covered": ("success-covered", {"commit_sha": None}, {"patch": PATCH}),
    "unproven": ("success-unshown", {"commit_sha": None}, {"patch": PATCH}),
    "failed-proof": ("failed-proof", {}, {}),
    "failed": ("failed", {}, {}),
    "failed-known": ("failed-known", {}, {}),
    "failed-timeout": ("failed-timeout", {}, {}),
    "failed-refused": ("failed-refused", {}, {}),
    "failed-setup": ("failed-setup", {}, {}),
    "failed-plain": ("failed-nothing", {"stop": None}, {}),
    "cancelled": ("cancelled", {}, {}),
    "cancelled-plain": ("cancelled", {"stop": None, "salvage_ref": None, "unfinished": ""}, {}),
}


def fix_run(name: str, language: Language = "en") -> tuple[RunView, dict[str, Any]]:
    """The run of a *Fix* of that name and what else its comment is told."""
    told, changes, given = FIXES[name]
    run = make_view(told).model_copy(update={"issues": (), "task": "fix pull request 41", **changes})
    assert run.status in Status
    return run, {"number": 41, "from_fork": False, "patch": "", **given}


HEADS = ("awaiting-fork", "awaiting-author", "no-sandbox", "filtered", "config", "config-default")
COMMENTS = ("awaiting-fork", "awaiting-author")
GOLDENS = (
    *(f"check-{name}" for name in CHECKS),
    *(f"head-{name}" for name in HEADS),
    *(f"comment-{name}" for name in COMMENTS),
    *(f"fix-{name}" for name in FIXES),
)
"""Without `pull-` in front and `.en.md` behind."""
