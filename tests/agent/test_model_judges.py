"""A model judges progress and classifies failures; the rules decide where it does not answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.agent.model_budget import ModelBudget, ModelLimits
from bot.agent.model_client import ModelClient
from bot.agent.model_judges import ModelJudge, classify_step
from bot.agent.progress import JudgeProgressDetector
from bot.model import ValidationStep
from tests.agent.model_server import ModelServer, model_server

KEY = "a-key-of-the-provider-0123456789"
STEP = ValidationStep(command="make verify", stage="custom", passed=False, exit_code=2, output="2 of 5 went wrong")


@pytest.fixture
def client(tmp_path: Path) -> ModelClient:
    budget = ModelBudget(ModelLimits(100_000, 100_000, 5.0, 5.0))
    return ModelClient("anthropic:claude-sonnet-4-5", budget, str)


def serve(server: ModelServer, patch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment(KEY).items():
        patch.setenv(name, value)


async def test_the_model_judges_progress_and_is_not_asked_about_the_same_output(
    client: ModelClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REQ-STOP-003."""
    with model_server([{"progress": True}, {"progress": False}]) as server:
        serve(server, monkeypatch)
        detector = JudgeProgressDetector(ModelJudge(client, "run-1"))
        assert not await detector.detect_progress("2 failed", "2 failed")
        assert await detector.detect_progress("2 failed", "3 failed") is True
        assert await detector.detect_progress("2 failed", "1 failed") is False
    assert len(server.requests) == 2
    assert str(server.requests[0][2]["messages"]).count("DATA") == 4


@pytest.mark.parametrize("answer", [401, "refusal", "cut_off", "broken"])
async def test_where_the_judge_fails_the_simple_rule_decides(
    client: ModelClient, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    """REQ-STOP-003."""
    with model_server([answer]) as server:
        serve(server, monkeypatch)
        detector = JudgeProgressDetector(ModelJudge(client, "run-1"))
        assert await detector.detect_progress("2 failed", "1 failed") is True
        assert await detector.detect_progress("2 failed", "9 failed") is False
    assert server.requests


@pytest.mark.parametrize(("answer", "kind"), [({"classification": "lint"}, "lint"), (401, None), ("broken", None)])
async def test_a_failure_is_classified_by_what_the_command_printed(
    client: ModelClient, monkeypatch: pytest.MonkeyPatch, answer: Any, kind: str | None
) -> None:
    """REQ-RUN-005."""
    with model_server([answer]) as server:
        serve(server, monkeypatch)
        found, usage = await classify_step(client, "run-1", STEP)
    assert (found, bool(usage.tokens)) == (kind, answer != 401)
    assert "make verify\nexit code 2\n2 of 5 went wrong" in server.requests[0][2]["messages"][0]["content"][0]["text"]
