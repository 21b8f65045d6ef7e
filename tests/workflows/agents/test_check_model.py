"""`agent check` of a model and of the operator's own command: what works, and what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import Settings
from bot.reports.locale.reasons import english
from bot.workflows.agents.check_agent import FILE, AgentCheck
from bot.workflows.agents.check_model import check_command, check_model
from bot.workspace.sandbox.sandbox import open_sandbox
from tests.agent.model_server import Answer, model_server

KEY = "sk-check-0123456789abcdef"


def steps(found: AgentCheck) -> dict[str, tuple[bool, str]]:
    return {each.step: (each.passed, english(each.message)) for each in found.steps}


@pytest.mark.parametrize(
    ("answer", "passed", "text"),
    [
        ({"changes": [{"path": FILE, "content": "ok"}]}, True, "did the task"),
        (401, False, "does not accept the key"),
        (404, False, "correct the name of the model"),
    ],
)
async def test_a_model_is_asked_for_one_small_change(
    monkeypatch: pytest.MonkeyPatch, answer: Answer, passed: bool, text: str
) -> None:
    """REQ-RUN-008."""
    with model_server([answer]) as server:
        for name, value in server.environment(KEY).items():
            monkeypatch.setenv(name, value)
        found = await check_model("llm:openai:gpt-5", Settings())
    assert (found.passed, steps(found)["task"][0]) == (passed, passed)
    assert text in steps(found)["task"][1] and KEY not in found.model_dump_json()
    assert found.usage is not None and bool(found.usage.tokens) == passed


async def test_without_a_key_no_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """REQ-RUN-008."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert "set OPENAI_API_KEY" in steps(await check_model("llm:openai:gpt-5", Settings()))["key"][1]


@pytest.mark.parametrize(
    ("argv", "step", "passed"),
    [
        (("sh", "-c", f"cat > /dev/null; echo ok > {FILE}"), "task", True),
        (("sh", "-c", "exit 7"), "task", False),
        (("no-such-program-here",), "program", False),
        ((), "program", False),
    ],
)
async def test_the_operators_own_command_does_the_task_in_the_sandbox(
    argv: tuple[str, ...], step: str, passed: bool, tmp_path: Path
) -> None:
    """REQ-RUN-008."""
    found = await check_command("command", Settings(agent_command=argv), await open_sandbox("none", ()))
    assert (found.passed, [*steps(found)][-1]) == (passed, step)
