"""Answers to commands to compare with what was approved, one for each kind of thing that can be asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.model import Issue, Language
from bot.model.pulls import PullCheckReport
from bot.reports.commands.answers import explain_answer, group_answer, history_answer, status_answer
from tests.reports.views_pulls import BASE, FLAKY, NEW, ON_BASE, RED_TEST, VIEW, done, pull_view
from tests.reports.views_runs import BY_BOT, BY_PERSON, LINT, SIMILAR, make_view

WAITING = (Issue(number=7, title="Cart is None"), Issue(number=9, title="Ask @acme/core: does it close #3?"))
MIXED: PullCheckReport = VIEW.model_copy(
    update={
        "checks": (
            done("lint", step=LINT),
            done("test", NEW, ON_BASE, FLAKY, step=RED_TEST),
            done("e2e", FLAKY, kept_from="pull-4a10"),
            done("docs", because="paths"),
        ),
        "base_sha": BASE,
    }
)
PASSED: PullCheckReport = VIEW.model_copy(update={"checks": (done("lint", step=LINT),), "fixable": False})
FLAKY_ONLY: PullCheckReport = VIEW.model_copy(update={"checks": (done("test", FLAKY, ON_BASE, step=RED_TEST),)})

ANSWERS: Mapping[str, Callable[[Language], str]] = {
    "status": lambda language: status_answer(
        [
            make_view("failed-known"),
            make_view("running"),
            make_view("queued").model_copy(update={"waited_ms": 125_000}),
        ],
        None,
        language=language,
    ),
    "status-done": lambda language: status_answer([make_view("failed"), make_view("success")], None, language=language),
    "status-covered": lambda language: status_answer([make_view("success-covered")], None, language=language),
    "status-unproven": lambda language: status_answer([make_view("success-unshown")], None, language=language),
    "status-proof": lambda language: status_answer([make_view("failed-proof")], None, language=language),
    "status-failed": lambda language: status_answer([make_view("failed")], None, paused_by="ann", language=language),
    "status-waiting": lambda language: status_answer([make_view("cancelled")], None, waiting=True, language=language),
    "status-soon": lambda language: status_answer([make_view("queued-soon")], None, language=language),
    "status-pull": lambda language: status_answer([], MIXED, language=language),
    "status-pull-running": lambda language: status_answer([], pull_view("running")[0], language=language),
    "status-pull-cancelled": lambda language: status_answer([], pull_view("superseded")[0], language=language),
    "status-nothing": lambda language: status_answer([], None, language=language),
    "status-paused": lambda language: status_answer([], None, paused_by="ann", language=language),
    "explain": lambda language: explain_answer(make_view("failed-known"), None, language),
    "explain-running": lambda language: explain_answer(make_view("running-known"), None, language),
    "explain-success": lambda language: explain_answer(make_view("success-group"), None, language),
    "explain-covered": lambda language: explain_answer(make_view("success-covered"), None, language),
    "explain-unproven": lambda language: explain_answer(make_view("success-unshown"), None, language),
    "explain-proof": lambda language: explain_answer(make_view("failed-proof"), None, language),
    "explain-cancelled": lambda language: explain_answer(make_view("cancelled"), None, language),
    "explain-queued": lambda language: explain_answer(make_view("queued"), None, language),
    "explain-pull": lambda language: explain_answer(None, MIXED, language),
    "explain-pull-flaky": lambda language: explain_answer(None, FLAKY_ONLY, language),
    "explain-pull-passed": lambda language: explain_answer(None, PASSED, language),
    "explain-nothing": lambda language: explain_answer(None, None, language),
    "history": lambda language: history_answer("shop/cart.py", (BY_PERSON, BY_BOT, SIMILAR), language, "acme/shop"),
    "history-nothing": lambda language: history_answer("shop/`x`.py", (), language, "acme/shop"),
    "group": lambda language: group_answer(make_view("queued-conflict"), (), language),
    "group-over": lambda language: group_answer(make_view("success-group"), (), language, apart=(16,)),
    "group-alone": lambda language: group_answer(make_view("queued-soon"), (), language, apart=(7, 14)),
    "group-waiting": lambda language: group_answer(None, WAITING, language, apart=(14,), together=((9, 7),)),
    "group-nothing": lambda language: group_answer(None, (), language),
}
