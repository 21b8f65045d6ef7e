"""A session that asks for an agent which the operator has not chosen is rejected before its run exists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.model import SessionRequest
from bot.reports.locale.reasons import english
from bot.rules.runs.session_request import InvalidRequest
from bot.workflows.runs.sessions import get_spec
from tests.workflows.conftest import Harness


@pytest.mark.parametrize(("agent", "chosen"), [("codex", False), ("llm:ollama:x", False), ("claude", True)])
def test_a_session_over_http_may_ask_only_for_coding_agents_of_the_operator(
    at_desk: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, chosen: bool
) -> None:
    """REQ-RUN-008."""
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9")
    request = SessionRequest(repo=str(tmp_path), task="Fix it.", test_command="true", agents=("fixers", agent))

    async def problems(at: Harness) -> list[tuple[str, str]]:
        try:
            await get_spec(at.context, request, roots=(tmp_path,))
        except InvalidRequest as error:
            return [(each.field, english(each.reason)) for each in error.problems]
        return []

    found = at_desk(problems, agents=("fixers", "claude"))
    assert [field for field, _ in found] == ([] if chosen else ["agents"])
    assert all(agent in message and "the operator has not" in message for _, message in found)
