"""The dashboard and the list of runs (REQ-RUN-009)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import pytest

from bot.model import Usage
from bot.store.runs.agent_usage import add_usage, utc_day
from tests.web.conftest import Door
from tests.web.pages.client import Client
from tests.web.pages.stored_runs import fill


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with Door(tmp_path_factory.mktemp("dashboard")) as door:
        asyncio.run(fill(door.database))
        yield door


def section(text: str, name: str) -> str:
    return next(part for part in re.findall(r"<section.*?</section>", text, re.S) if f'id="{name}"' in part)


def test_the_dashboard_shows_what_runs_waits_failed_and_was_fixed(operator: Client) -> None:
    """REQ-RUN-009: each run is in the list of its state, with a link to its page and its level of proof."""
    text = operator.get("/").text
    for state, ids in {"running": ("runs", "session"), "waiting": ("waits",), "failed": ("failed",),
                       "fixed": ("fixed",), "checked": ("red", "green")}.items():  # fmt: skip
        found = re.findall(r'href="/runs/([\w-]+)"', section(text, f"list-{state}"))
        assert sorted(found) == sorted(ids), state
        assert f'<span class="count">{len(ids)}</span>' in section(text, f"list-{state}")
    assert "proven" in section(text, "list-fixed")
    assert "paused" in section(text, "list-waiting").lower()
    assert "superseded" in section(text, "list-checked"), "a newer commit passed"
    assert "new failures" not in section(text, "list-checked")
    assert "It &lt;b&gt;fails&lt;/b&gt;" in text


def test_the_dashboard_shows_the_server_and_its_worktrees(operator: Client) -> None:
    text = operator.get("/").text
    assert "octo/pocket" in section(text, "slots") and "1 of 3" in section(text, "slots")
    assert "not ready" in section(text, "server"), "the worker does not run here"
    assert 'role="alert"' in text


def test_the_dashboard_shows_what_agents_used_today(operator: Client, door: Door) -> None:
    """REQ-RUN-008."""
    usage = Usage(input_tokens=4_000, output_tokens=321)

    async def use() -> None:
        await door.database.write(lambda each: add_usage(each, utc_day(), "octo/pocket", "runs", "codex", usage))

    assert "$0.00 of $25" in section(operator.get("/").text, "used")
    asyncio.run(use())
    assert "4,321 of 20,000,000" in section(operator.get("/").text, "used")


@pytest.mark.parametrize(
    ("state", "ids"), [("cancelled", ["cancelled"]), ("failed", ["failed"]), ("waiting", ["waits"])]
)
def test_the_runs_of_a_state_have_a_page(operator: Client, state: str, ids: list[str]) -> None:
    assert re.findall(r'href="/runs/([\w-]+)"', operator.get(f"/runs?state={state}").text) == ids


@pytest.mark.parametrize(("query", "status"), [("state=none", 422), ("offset=x", 422), ("offset=50", 404)])
def test_a_wrong_query_is_an_error_page(operator: Client, query: str, status: int) -> None:
    answer = operator.get(f"/runs?{query}")
    assert answer.status == status and "<h1>" in answer.text
