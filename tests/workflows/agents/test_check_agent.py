"""`agent check` says what works and what is missing, with a program in place of a real coding agent.

The real programs are asked in `tests/e2e/agents`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.config import Settings
from bot.reports.locale.reasons import english
from bot.workflows.agents.check_agent import AgentCheck, check_agent
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox

OBEDIENT = """cat > /dev/null
printf ok > mendbot-check.txt
test -w "$HOME" || exit 9
settings=$(printf '%s\\n' "$@" | grep -A1 -x -e --settings | tail -1)
trace=$(grep -o 'echo called >> [^;]*' "$settings" | head -1 | sed 's/.*>> //')
echo called >> "$trace"
echo '{"type": "result", "is_error": false, "result": "Done.", "total_cost_usd": 0.5, "usage": {"input_tokens": 7}}'
"""
LAZY = """cat > /dev/null; echo '{"type": "result", "is_error": false, "result": "Later."}'"""
ELSEWHERE = """cat > /dev/null; exec python3 -c "
import urllib.request, urllib.error
try: urllib.request.urlopen('http://telemetry.example:80/')
except urllib.error.HTTPError as error: print(error.read().decode()); raise SystemExit(1)
" """

UNREACHABLE = """cat > /dev/null; exec python3 -c "
import json, urllib.request
try: urllib.request.urlopen('https://models.invalid/')
except OSError as error: print(json.dumps({'type': 'result', 'is_error': True, 'result': str(error)}))
" """


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    found = asyncio.run(open_sandbox("bubblewrap", ()))
    assert found.level == "bubblewrap", found.describe()
    return found


async def check(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> tuple[AgentCheck, dict[str, tuple[bool, str]]]:
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\n{script}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    found = await check_agent("claude", Settings(), sandbox)
    return found, {each.step: (each.passed, english(each.message)) for each in found.steps}


async def test_an_agent_that_works_passes_each_step(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REQ-RUN-008."""
    found, steps = await check(sandbox, tmp_path, monkeypatch, OBEDIENT)
    assert found.passed, steps
    assert steps == {
        "program": (True, str(tmp_path / "claude")),
        "key": (True, "ANTHROPIC_API_KEY"),
        "sandbox": (True, "bubblewrap; it can reach api.anthropic.com:443 and nothing else"),
        "task": (True, "did the task"),
        "hook": (True, "called when a tool ran"),
    }
    assert found.usage is not None and (found.usage.input_tokens, found.usage.cost_usd) == (7, 0.5)


async def test_an_agent_that_does_nothing_fails_the_task(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, steps = await check(sandbox, tmp_path, monkeypatch, LAZY)
    assert not found.passed
    assert steps["task"][0] is False and "ended without doing the task" in steps["task"][1]
    assert "hook" not in steps, "it called no tool, so nothing is known about its hook"


async def test_an_agent_without_its_hook_passes_and_the_step_fails(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, steps = await check(sandbox, tmp_path, monkeypatch, OBEDIENT.replace('echo called >> "$trace"', ""))
    assert found.passed, steps
    assert steps["hook"][0] is False and "not called" in steps["hook"][1]


async def test_a_host_that_cannot_be_reached_is_named_once(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://models.invalid")
    _, steps = await check(sandbox, tmp_path, monkeypatch, UNREACHABLE)
    assert steps["task"][0] is False
    assert steps["task"][1].count("models.invalid cannot be reached") == 1, steps["task"]


async def test_a_host_that_was_refused_is_named(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, steps = await check(sandbox, tmp_path, monkeypatch, ELSEWHERE)
    assert steps["task"] == (False, "the agent failed with exit code 1 (refused in the sandbox: telemetry.example:80)")


async def test_without_a_key_nothing_is_run(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_CODE_OAUTH_TOKEN", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    (tmp_path / "claude").write_text("#!/bin/sh\n")
    (tmp_path / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    found = await check_agent("claude", Settings(), sandbox)
    assert [(each.step, each.passed) for each in found.steps] == [("program", True), ("key", False)]
