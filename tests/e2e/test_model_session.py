"""A session with a language model: it changes files, and it classifies what a command of the session's own printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.app.local_session import run_session
from bot.config import load_settings
from bot.model import Status
from bot.model.events.agents import AgentEnded
from bot.model.events.runs import CheckEnded
from tests.agent.model_server import Answer, model_server
from tests.e2e.session_projects import PLAIN, TASK, put, request, write

PLAN: Answer = {"approach": "Write the number.", "risks": ["None is known."], "steps": ["Write 42."]}
MODEL = "llm:openai:gpt-5"
KEY = "a-key-of-the-provider-0123456789"
ODD = 'test "$(cat answer.txt)" = 42 || { echo "that will not do"; exit 1; }'


@pytest.mark.parametrize(
    ("verdict", "kind"), [({"classification": "lint"}, "lint"), (401, "unknown")], ids=["answered", "refused"]
)
async def test_a_model_fixes_a_tree_and_classifies_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: Answer, kind: str
) -> None:
    """REQ-RUN-005, REQ-RUN-008: the second attempt knows what failed after the first."""
    tree = write(tmp_path / "tree", PLAIN)
    asked = {"repo": str(tree), "task": TASK, "validationCommands": [ODD], "maxAttempts": 2}
    monkeypatch.setenv("MENDBOT_HOME", str(tmp_path / "home"))
    with model_server([PLAN, put("answer.txt", "43\n"), verdict, put("answer.txt", "42\n")]) as server:
        for name, value in server.environment(KEY).items():
            monkeypatch.setenv(name, value)
        done = await run_session(load_settings(), request({**asked, "agents": [MODEL]}))
    assert done.session.status is Status.SUCCESS
    assert (tree / "answer.txt").read_text() == "42\n"
    failed = [
        event for event in done.events if isinstance(event, CheckEnded) and event.iteration and not event.step.passed
    ]
    assert [event.classification for event in failed] == [kind]
    used = [(event.phase, event.agent) for event in done.events if isinstance(event, AgentEnded)]
    work = [("implementation", MODEL), ("validation", MODEL), ("implementation", MODEL)]
    assert used == [("planning", MODEL), *work], "each call counts for the budgets"
    prompts = [str(body) for _, _, body in server.requests]
    assert ["that will not do" in prompt for prompt in prompts] == [True, True, True, True]
    assert "after the attempts so far" in prompts[3]
    assert not any("Write the number." in prompt for prompt in prompts[1:]), "agents do not get the model's plan"
    shown = {artifact.phase: artifact.data.get("model") for artifact in done.artifacts}
    assert shown["planning"]["approach"] == "Write the number." and shown["design"]["steps"] == ["Write 42."]
    assert shown["architecture"]["name"] == "openai:gpt-5"
    assert all(
        KEY not in path.read_text("utf-8", "replace") for path in (tmp_path / "home").rglob("*.*") if path.is_file()
    )
