"""How long a run that may not go on waits before it asks again: each question is a row of the engine's."""

from __future__ import annotations

import pytest

from bot.rules.runs.fold import run_state
from bot.workflows.runs import loop
from bot.workflows.runs.loop import PAUSED_WAIT_S, TURN_WAIT_S
from tests.workflows.reporting.run_rows import begun, event, row


@pytest.mark.parametrize(("waited_s", "turn_s"), [(0, 1.0), (100, 5.0), (86_400, 15.0)])
def test_who_has_waited_longer_asks_less_often(monkeypatch: pytest.MonkeyPatch, waited_s: int, turn_s: float) -> None:
    monkeypatch.setattr(loop, "now_ms", lambda: waited_s * 1000)
    assert loop._wait_s(row(), run_state([]), TURN_WAIT_S) == pytest.approx(turn_s)


def test_a_pause_counts_from_its_own_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    state = run_state([*begun(), event(3, "paused")])
    assert state.paused_at is not None
    since_ms = int(state.paused_at.timestamp() * 1000)
    for paused_s, wait_s in ((1, 2.0), (600, 30.0), (86_400, 60.0)):
        monkeypatch.setattr(loop, "now_ms", lambda at=since_ms + paused_s * 1000: at)
        assert loop._wait_s(row(), state, PAUSED_WAIT_S) == pytest.approx(wait_s)
