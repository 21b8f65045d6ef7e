"""An error history and a group of issues, for tests of the pages that look back."""

from __future__ import annotations

from bot.model import Issue, Repo, Resolution
from bot.model.reasons import make_reason
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database, now_ms
from bot.store.history.history import History
from bot.store.history.outcomes import CheckOutcome, Outcomes
from bot.store.history.remembered_runs import RememberedRuns
from bot.store.runs.runs import Runs

_REPO = "acme/records"


async def fill_records(database: Database) -> None:
    """A fixed error with its change, a failing check, a flaky test, and two issues that are worded alike."""
    fixed = Resolution(
        resolved_by="mendbot[bot]", tool_sequence=("Edit src/cart.py",), repo=_REPO, commit="0123456789abcdef",
        pull_request=31, run_id="story", attempt=2, proof="proven", patch="--- a/cart.py\n+++ b/cart.py\n",
    )  # fmt: skip
    await History(database).record("cart.py: KeyError: 'total'", fixed)
    failed = CheckOutcome(
        repo=_REPO, number=1, stage="test", sha="a", run_id="records", outcome="failed",
        errors=("cart.py: KeyError: 'total'",), at_ms=now_ms(),
    )  # fmt: skip
    await Outcomes(database).record(failed)
    for outcome in ({"failed": ["t::flaky"], "passed": []}, {"failed": [], "passed": ["t::flaky"]}):
        await RememberedRuns(database).add(_REPO, "test", ("a" * 40, "base"), **outcome)
    spec = RunSpec(
        repo=Repo(owner="acme", name="records", installation_id=1),
        issues=(Issue(number=7, title="Totals are wrong"), Issue(number=9, title="Wrong totals in the cart")),
        reasons=(make_reason("group.words", low=7, high=9, cosine="0.61", words="totals, wrong"),),
        agents=("fixers",),
    )
    assert await Runs(database).create("grouped", spec)
