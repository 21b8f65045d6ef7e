"""Claude Code calls Mendbot's tools over stdio, set up as `docs/mcp.md` says: run by `make agents`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from tests.e2e.agents.model_apis import Call, serve_models

pytestmark = pytest.mark.agents
ERROR = "src/a.c:9:9: error: no such thing as ada"


async def run(*argv: str, cwd: Path, env: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *argv, cwd=cwd, env=env, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, output.decode()
    return output.decode()


async def test_claude_code_calls_our_tools_and_reads_their_results(tmp_path: Path) -> None:
    """REQ-RUN-008: what it records it finds again."""
    project = tmp_path / "project"
    project.mkdir()
    record = {"error": ERROR, "how": "added ada", "by": "ada", "tools": ["Read", "Edit"]}
    calls = (
        Call(name="mcp__mendbot__record_resolution", arguments=record),
        Call(name="mcp__mendbot__error_history", arguments={"error": ERROR}),
    )
    programs = Path(os.environ["MENDBOT_TEST_AGENTS"], "node_modules", ".bin")
    async with serve_models(*calls) as api:
        env = {
            "HOME": str(tmp_path),
            "PATH": f"{programs}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "MENDBOT_HOME": str(tmp_path / "mendbot"),
            "ANTHROPIC_API_KEY": "sk-ant-no-key",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{api.port}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "MCP_CONNECTION_NONBLOCKING": "0",  # the model of this test does not wait for tools
            "MCP_CONNECT_TIMEOUT_MS": "60000",
        }
        await run("claude", "mcp", "add", "mendbot", "--", "mendbot", "mcp", cwd=project, env=env)
        allowed = ",".join(call.name for call in calls)
        argv = ("claude", "-p", "--output-format", "json", "--allowedTools", allowed, "--", "What fixed it?")
        printed = await run(*argv, cwd=project, env=env)
    assert json.loads(printed)["num_turns"] == 3
    results = [
        block
        for message in json.loads(api.requests[-1][1])["messages"]
        for block in (message["content"] if isinstance(message["content"], list) else [])
        if block.get("type") == "tool_result"
    ]
    assert [block.get("is_error", False) for block in results] == [False, False]
    (known,) = json.loads(text_of(results[-1]["content"]))["errors"]
    assert known["resolution"]["resolvedBy"] == "ada"
    assert known["resolution"]["toolSequence"] == ["Read", "Edit"]


def text_of(content: str | list[dict[str, str]]) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
