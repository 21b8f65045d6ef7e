"""The page `/history`: what fixed an error is shown with its proof and its links (REQ-RUN-009)."""

from __future__ import annotations

import asyncio
import re

import pytest

from bot.model import Resolution
from bot.store.database.database import now_ms
from bot.store.history.history import History
from bot.store.history.outcomes import CheckOutcome, Outcomes
from bot.store.history.remembered_runs import RememberedRuns
from bot.web.pages.history_page import MAX_PATCH, PER_PAGE
from tests.web.conftest import Door
from tests.web.pages.client import Client

REPO = "acme/shop"
FIXED = Resolution(
    resolved_by="mendbot[bot]", tool_sequence=("Edit src/cart.py",), repo=REPO, commit="0123456789abcdef",
    pull_request=31, run_id="run-7", attempt=2, proof="proven", patch="--- a/cart.py\n" + "+x\n" * MAX_PATCH,
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def history(_open_door: Door) -> None:
    """A fixed error, a hostile one, more of them than a page holds, and a flaky test."""
    database = _open_door.database

    async def fill() -> None:
        known, outcomes, memory = History(database), Outcomes(database), RememberedRuns(database)
        for number in range(PER_PAGE):
            await known.record(f"many.py: error number{number}x", Resolution(repo="acme/api", how="by hand"))
        await known.record("<script>alert(1)</script>", Resolution(how="</pre><b>", patch="</pre><script>"))
        await known.record("cart.py: KeyError: 'total'", FIXED)
        await known.record("sum.py: no sum", Resolution(repo="/home/ada/strA", how="by hand"))
        failed = CheckOutcome(
            repo=REPO, number=1, stage="test", sha="a", run_id="p1", outcome="failed",
            errors=("cart.py: KeyError: 'total'",), at_ms=now_ms(),
        )  # fmt: skip
        await outcomes.record(failed)
        await memory.add(REPO, "test", ("a" * 40, "base"), failed=["t::flaky"], passed=[])
        await memory.add(REPO, "test", ("a" * 40, "base"), failed=[], passed=["t::flaky"])

    asyncio.run(fill())


def test_a_fixed_error_links_to_its_run_and_pull_request(operator: Client) -> None:
    """REQ-RUN-009."""
    text = operator.get("/history?file=cart.py").text
    assert "KeyError: &#39;total&#39;" in text and '<span class="pill good">proven</span>' in text
    assert '<a href="/runs/run-7">run-7</a>' in text
    assert '<a href="https://github.com/acme/shop/pull/31">#31</a>' in text
    assert '<a href="https://github.com/acme/shop/commit/0123456789ab">0123456789ab</a>' in text
    assert "in one run, on" in text and "The rest is in the pull request." in text
    assert len(text) < 4 * MAX_PATCH


def test_filters_select_and_pages_go_on(operator: Client) -> None:
    first = operator.get("/history").text
    assert first.count("<summary>\n") == PER_PAGE and 'href="/history?page=2"' in first
    assert operator.get("/history?page=2").text.count("<summary>\n") == 3
    of_repo = operator.get("/history?repo=acme%2Fapi&text=NUMBER7").text
    assert "number7x" in of_repo and "number8x" not in of_repo and '<option value="acme/api" selected>' in of_repo
    assert "No error matches this filter." in operator.get("/history?text=nothing&page=7").text


def test_a_directory_is_shown_in_the_letters_of_its_name(operator: Client) -> None:
    assert "/home/ada/strA ·" in re.sub(r"\s+", " ", operator.get("/history?file=sum.py").text)


def test_what_others_wrote_is_text(operator: Client) -> None:
    text = operator.get("/history?text=alert").text
    assert "<script>alert" not in text and "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "</pre><b>" not in text and "</pre><script>" not in text


def test_the_trend_is_a_picture_and_a_table(operator: Client) -> None:
    text = operator.get("/history").text
    assert 'role="img" aria-label="Last 30 days: errors: 1, failing checks: 1,' in text and '<rect class="bad"' in text
    assert "t::flaky" in text and "50 % (1 of 2 runs)" in text
    assert "No check failed" in operator.get("/history?repo=acme/api").text


def test_the_page_needs_a_session(visitor: Client) -> None:
    assert visitor.get("/history?file=a").headers["location"] == "/login?next=%2Fhistory%3Ffile%3Da"
