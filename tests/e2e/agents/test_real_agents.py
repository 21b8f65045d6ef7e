"""The real coding agents work with their profiles: run by `make agents`, which installs them beside the repository.

No request leaves this machine: each program is given an API on loopback, and the sandbox shows it nothing else."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from bot.agent.command import CommandAgent
from bot.agent.hook_bundle import HookBundle, make_bundle
from bot.agent.profiles import program_settings
from bot.config import Settings
from bot.model import AgentTask, Proposal, Usage
from bot.reports.locale.reasons import english
from bot.workflows.agents.build_agents import runner_in
from bot.workflows.agents.check_agent import check_agent
from bot.workflows.agents.profile_agents import PreparedProfile, prepare_profile
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox
from tests.e2e.agents.model_apis import RECEIVED, SENT, Mode, ModelApi, serve_models

pytestmark = pytest.mark.agents
NAMES = ("claude", "codex", "gemini", "opencode", "qwen")
WITH_HOOKS = ("claude", "codex", "qwen")
HOOK = {"hooks": [{"type": "command", "command": "touch ran-a-hook"}], "matcher": "*"}
TOML_HOOK = '[{matcher = ".*", hooks = [{type = "command", command = "touch ran-a-hook"}]}]'


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    found = asyncio.run(open_sandbox("bubblewrap", ()))
    assert found.level == "bubblewrap", found.describe()
    return found


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = os.environ["MENDBOT_TEST_AGENTS"]
    monkeypatch.setenv("PATH", f"{programs}/node_modules/.bin{os.pathsep}{os.environ['PATH']}")


def environ(api: ModelApi) -> Mapping[str, str]:
    url = f"http://127.0.0.1:{api.port}"
    return {
        "ANTHROPIC_API_KEY": "sk-ant-no-key",
        "ANTHROPIC_BASE_URL": url,
        "OPENAI_API_KEY": "sk-no-key",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "qwen3-coder",
        "GEMINI_API_KEY": "no-key",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_MODEL": "gemini-2.5-pro",
    }


def prepared(name: str, api: ModelApi) -> PreparedProfile:
    found = prepare_profile(name, Settings(), environ(api))
    assert isinstance(found, PreparedProfile), english(found)
    if name == "codex":  # its newest models call their tools from scripts, which the API on loopback does not write
        extra = ("-m", "gpt-5", "--disable", "enable_request_compression")
        return replace(found, argv=(*found.argv, *extra))
    return found


async def ask(name: str, api: ModelApi, tree: Path, sandbox: Sandbox, timeout_s: float = 60.0) -> Proposal:
    found = prepared(name, api)

    async def bundle(_: str) -> HookBundle:
        return make_bundle(tree.parent / "kit", settings=program_settings(found.profile))

    agent = CommandAgent(
        runner_in(sandbox, (), found.grant),
        found.argv,
        name=name,
        env=found.env,
        read_only=found.read_only,
        timeout_s=timeout_s,
        read=found.profile.read,
        make_bundle=bundle,
    )
    return await agent.propose(AgentTask(run_id="run-1", attempt=1, max_attempts=1, task="Write answer.txt."), tree)


def written(tree: Path) -> set[str]:
    return {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file() and ".git/" not in str(path)}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository whose settings for each program run a command whenever they are obeyed."""
    tree = tmp_path / "tree"
    names = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "BeforeTool", "AfterTool", "Stop")
    events = {name: [HOOK] for name in names}
    server = {"mcpServers": {"own": {"command": "touch", "args": ["ran-a-hook"]}}}
    settings = {"hooks": events, **server, "hooksConfig": {"enabled": True}, "apiKeyHelper": "touch ran-a-hook"}
    plugin = "import { writeFileSync } from 'fs'; export const P = async () => writeFileSync('ran-a-hook', '')"
    files = {
        **{f"{name}/settings.json": settings for name in (".claude", ".gemini", ".qwen")},
        ".claude/settings.local.json": settings,
        ".mcp.json": server,
        ".codex/config.toml": f'notify = ["touch", "ran-a-hook"]\nhooks = {{SessionStart = {TOML_HOOK}}}\n'
        '[mcp_servers.own]\ncommand = "touch"\nargs = ["ran-a-hook"]\n',
        ".codex/hooks.json": {"hooks": events},
        ".opencode/plugin/p.js": plugin,
        ".opencode/plugins/p.js": plugin,
        "opencode.json": {"mcp": {"own": {"type": "local", "command": ["touch", "ran-a-hook"]}}},
        ".env": "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9\nOPENAI_BASE_URL=http://127.0.0.1:9\n",
        "AGENTS.md": "Be brief.\n",
    }
    for name, content in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    (tree / ".git").mkdir()
    return tree


@pytest.mark.parametrize("name", NAMES)
async def test_its_edits_are_the_change_and_the_repositorys_own_hooks_do_not_run(
    name: str, tree: Path, sandbox: Sandbox
) -> None:
    """REQ-RUN-008."""
    before = written(tree)
    async with serve_models("echo 42 > answer.txt") as api:
        proposal = await ask(name, api, tree, sandbox)
    assert proposal.offered, english(proposal.because)
    assert written(tree) - before == {"answer.txt"}
    assert proposal.usage is not None
    assert (proposal.usage.input_tokens % SENT, proposal.usage.output_tokens % RECEIVED) == (0, 0)
    assert proposal.usage != Usage()
    assert any("You are fixing a repository" in body for _, body in api.requests)


@pytest.mark.parametrize("mode", ["busy", "broken", "refuses", "cut off"])
@pytest.mark.parametrize("name", NAMES)
async def test_an_api_that_fails_ends_in_no_change_and_in_time(
    name: str, mode: Mode, tree: Path, sandbox: Sandbox
) -> None:
    """REQ-RUN-008."""
    before = written(tree)
    async with serve_models("echo 42 > answer.txt", mode) as api:
        proposal = await asyncio.wait_for(ask(name, api, tree, sandbox, timeout_s=25), 60)
    assert written(tree) - before == set()
    assert not proposal.changes
    assert api.requests


@pytest.mark.parametrize("name", [name for name in NAMES if name != "codex"])
async def test_the_check_passes_and_the_hook_is_called(
    name: str, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REQ-RUN-008."""
    async with serve_models("echo ok > mendbot-check.txt") as api:
        for variable, value in environ(api).items():
            monkeypatch.setenv(variable, value)
        found = await check_agent(name, Settings(), sandbox)
    messages = {each.step: english(each.message) for each in found.steps}
    assert found.passed, messages
    called = "called before a tool ran" if name in WITH_HOOKS else "no hook"
    assert called in messages["hook"], messages
