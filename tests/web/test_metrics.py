"""What Prometheus reads: the figures of this server, for those who have the token."""

from __future__ import annotations

import asyncio

import pytest

from bot.model import Usage
from bot.store.runs.agent_usage import add_usage
from tests.web.conftest import Door, headers_for


def samples(door: Door) -> dict[str, float]:
    """The values of the metrics by name and labels, as the text has them."""
    lines = [line for line in door.get("/metrics").text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_metrics_need_the_token(door: Door) -> None:
    assert door.get("/metrics", Authorization=None).status == 401


def test_deliveries_are_counted_by_what_became_of_them(door: Door) -> None:
    before = samples(door)
    assert door.post(b"{}", headers_for(b"{}", "metrics-1")).status == 202
    assert door.post(b"{}", headers_for(b"{}", "metrics-2", X_Hub_Signature_256="sha256=00")).status == 401
    after = samples(door)
    acknowledged, refused = (
        "mendbot_webhook_acknowledgement_seconds_count",
        'mendbot_deliveries_refused_total{status="401"}',
    )
    assert after[acknowledged] - before[acknowledged] == 1
    assert after[refused] - before.get(refused, 0) == 1
    assert after['mendbot_deliveries_open{status="accepted"}'] == 1
    assert after['mendbot_queue_depth{queue="deliveries"}'] == 1
    assert 0 < after['mendbot_queue_age_seconds{queue="deliveries"}'] < 600


def test_the_home_is_measured(door: Door) -> None:
    tree = door.home / "worktrees" / "octo" / "pocket" / "run-1"
    tree.mkdir(parents=True)
    found = samples(door)
    assert found['mendbot_worktrees{repository="octo/pocket"}'] == 1
    assert found["mendbot_worktree_slots"] == 3
    assert 0 < found["mendbot_home_disk_free_bytes"] <= found["mendbot_home_disk_size_bytes"]
    assert found["process_resident_memory_bytes"] > 0
    assert [value for name, value in found.items() if name.startswith("mendbot_build_info")] == [1]


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [("*/*", "text/plain"), ("application/openmetrics-text; version=1.0.0", "application/openmetrics-text")],
)
def test_the_format_is_the_one_that_is_accepted(door: Door, accept: str, content_type: str) -> None:
    answer = door.get("/metrics", Accept=accept)
    assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, content_type)
    assert answer.text.endswith("# EOF\n") == (content_type != "text/plain")


def test_what_agents_used_is_counted_by_agent(door: Door) -> None:
    """REQ-RUN-008."""
    priced, unknown = Usage(duration_ms=1_500, input_tokens=10, output_tokens=2, cost_usd=0.25), Usage(duration_ms=500)

    async def use() -> None:
        for usage in (priced, unknown):
            await door.database.write(lambda each, it=usage: add_usage(each, "2026-01-01", "o/a", "r", "x", it))

    asyncio.run(use())
    found = samples(door)
    tokens = [found[f'mendbot_agent_tokens_total{{agent="x",kind="{kind}"}}'] for kind in ("input", "output")]
    assert (tokens, found['mendbot_agent_cost_usd_total{agent="x"}']) == ([10, 2], 0.25)
    assert found['mendbot_agent_seconds_total{agent="x"}'] == 2
    assert found['mendbot_agent_calls_total{agent="x",usage="unknown"}'] == 1
