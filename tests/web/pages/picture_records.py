"""An error history and groups of issues as a server has them after some weeks, for the pictures of the documents."""

from __future__ import annotations

from bot.model import Issue, Repo, Resolution, Status
from bot.model.events.runs import SessionFinished
from bot.rules.grouping.groups import choose_groups
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database, now_ms
from bot.store.history.history import History
from bot.store.history.outcomes import CheckOutcome, Outcomes
from bot.store.history.remembered_runs import RememberedRuns
from bot.store.runs.runs import Runs

_REPO = Repo(owner="octo", name="shop", installation_id=1)
_DAY_MS = 86_400_000
_ERRORS = (
    ("src/cart.py: KeyError: 'total'", "fixers", "proven", 31),
    (
        "src/orders/total.ts: error TS2345: Argument of type 'string' is not assignable to 'number'",
        "claude",
        "covered",
        34,
    ),
    ("tests/test_cart.py::test_discount - assert 90 == 81", "claude", "proven", 38),
    ("src/mail.py:12: F401 `smtplib` imported but unused", "fixers", "unproven", 40),
)
_ERRORS_BY_DAY = (0, 3, 5, 2, 0, 0, 7, 9, 6, 4, 4, 1, 0, 0, 2, 8, 5, 3, 2, 0, 0, 4, 6, 3, 1, 1, 0, 0, 2, 1)
_FLAKY = {"tests/test_mail.py::test_retry": (3, 37), "tests/test_clock.py::test_midnight": (1, 24)}
_ISSUES = (
    Issue(
        number=41, title="Cart total is wrong with a discount", body="`src/cart.py` adds the discount twice. See #43."
    ),
    Issue(number=43, title="Discount counted twice in the cart total", body="KeyError: 'total' in `src/cart.py`"),
    Issue(number=47, title="Order mail shows the wrong cart total", body="`src/mail.py` prints 90, the cart says 81."),
    Issue(number=52, title="Retry of a mail never ends", body="`src/mail.py` loops when the server is down."),
    Issue(number=55, title="Mail retry waits too long", body="See #52. The retry of `src/mail.py` waits an hour."),
)


async def fill_pictures(database: Database) -> None:
    """Errors with what fixed them, thirty days of failures, flaky tests, and groups as the rules form them."""
    for number, (error, agent, proof, pull) in enumerate(_ERRORS):
        patch = "--- a/src/cart.py\n+++ b/src/cart.py\n@@ -3 +3 @@\n-    return cart['total']\n+    return cart.total\n"
        resolution = Resolution(
            resolved_by="mendbot[bot]", tool=agent, tool_sequence=("Edit src/cart.py",), repo=_REPO.full_name,
            commit=f"{number}a3f{number}c" * 7, pull_request=pull, run_id=f"fix-{pull}", attempt=1, proof=proof,
            patch=patch,
        )  # fmt: skip
        await History(database).record(error, resolution)
    for day, count in enumerate(reversed(_ERRORS_BY_DAY)):
        at = now_ms() - day * _DAY_MS
        errors = tuple(f"{_ERRORS[index % len(_ERRORS)][0]} {index}" for index in range(count))
        outcome = CheckOutcome(
            repo=_REPO.full_name, number=day + 1, stage="test", sha=f"{day}", run_id=f"run-{day}",
            outcome="failed" if count else "passed", errors=errors, at_ms=at,
        )  # fmt: skip
        await Outcomes(database).record(outcome)
    for test, (failed, passed) in _FLAKY.items():
        for number in range(failed + passed):
            outcomes = {"failed": [test], "passed": []} if number < failed else {"failed": [], "passed": [test]}
            await RememberedRuns(database).add(_REPO.full_name, "test", ("a" * 40, "base"), **outcomes)
    await _groups(database)


async def _groups(database: Database) -> None:
    runs = Runs(database)
    for number, group in enumerate(choose_groups(_ISSUES, "similarity")):
        issues = tuple(issue for issue in _ISSUES if issue.number in group.issues)
        spec = RunSpec(repo=_REPO, issues=issues, key=group.key, reasons=group.reasons, agents=("fixers",),
                       suggested_branch=f"fix/group-{number}", base_branch="main")  # fmt: skip
        assert await runs.create(f"group-{number}", spec)
        await runs.append(f"group-{number}", [SessionFinished(status=Status.SUCCESS, proof="proven", shown=True)])
