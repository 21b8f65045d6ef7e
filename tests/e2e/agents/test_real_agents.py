"""The real coding agents work with their profiles: run by `make agents`, which installs them beside the repository.

No request leaves this machine: each program is given an API on loopback, and the sandbox shows it nothing else."""

from __future__ import annotations

import asyncio
import html
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bot.agent.command import CommandAgent
from bot.agent.hook_bundle import HookBundle, ToolError, make_bundle
from bot.agent.profiles import MAX_TURNS
from bot.config import Settings
from bot.model import AgentTask, Proposal, Resolution, Usage
from bot.reports.locale.reasons import english
from bot.store.database.database import Database
from bot.store.history.history import History
from bot.store.history.snapshot import write_snapshot
from bot.workflows.agents.build_agents import runner_in
from bot.workflows.agents.check_agent import check_agent
from bot.workflows.agents.profile_agents import PreparedProfile, prepare_profile
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox
from tests.desk import git
from tests.e2e.agents.model_apis import RECEIVED, SENT, Call, Fault, ModelApi, serve_models

pytestmark = pytest.mark.agents
NAMES = ("claude", "codex", "gemini", "opencode", "qwen", "aider")
WITH_HOOKS = NAMES[:-1]
HOOK = {"hooks": [{"type": "command", "command": "touch ran-a-hook"}], "matcher": "*"}
TOML_HOOK = '[{matcher = ".*", hooks = [{type = "command", command = "touch ran-a-hook"}]}]'
ADA = Resolution(resolved_by="ada", tool="Edit", tool_sequence=("Read", "Edit"), repo="ada/engine")
FAILS = Call("echo 'src/a.c:9:9: error: no such thing as ada' >&2; exit 2")
ANSWER = Call("echo 42 > answer.txt")
EDIT = "answer.txt\n```\n<<<<<<< SEARCH\n=======\n42\n>>>>>>> REPLACE\n```\n"
"""The same as aider's models write it."""


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
    if name == "aider" and "MENDBOT_TEST_ALL" not in os.environ and not isinstance(found, PreparedProfile):
        pytest.skip("aider needs Python 3.12 or older")
    assert isinstance(found, PreparedProfile), english(found)
    return found


class Agent:
    """A coding agent in a repository of ada's, whose errors are known, with what its hooks record."""

    def __init__(self, prepared: PreparedProfile, tree: Path, sandbox: Sandbox) -> None:
        self.prepared, self.tree, self.sandbox = prepared, tree, sandbox
        self.database = Database(f"sqlite:///{tree.parent / 'mendbot.db'}")
        self.recorded: list[ToolError] = []

    def limit_turns(self, turns: int) -> None:
        """Allows that number of the model's answers in place of MAX_TURNS."""
        found = self.prepared
        argv = tuple(str(turns) if each == str(MAX_TURNS) else each for each in found.argv)
        settings = json.loads(json.dumps(found.profile.own_settings).replace(f" {MAX_TURNS}", f" {turns}"))
        self.prepared = replace(found, argv=argv, profile=replace(found.profile, own_settings=settings))

    async def bundle(self, run_id: str) -> HookBundle:
        bundle = make_bundle(self.tree.parent / "kit", settings=self.prepared.profile.run_settings())
        await write_snapshot(self.database, bundle.database, repo="ada/engine", session=run_id)
        return bundle

    async def record(self, _: str, errors: Sequence[ToolError]) -> None:
        self.recorded += errors

    async def ask(self, timeout_s: float = 120.0) -> Proposal:
        self.database.migrate()
        history = History(self.database)
        await history.record("/a/index.ts(3,4): error TS2345: no", ADA)
        await history.record("src/a.c:9:9: error: no such thing as ada", ADA)
        agent = CommandAgent(
            runner_in(self.sandbox, (), self.prepared.grant),
            self.prepared.argv,
            env=self.prepared.env,
            read_only=self.prepared.read_only,
            timeout_s=timeout_s,
            read=self.prepared.profile.read,
            make_bundle=self.bundle,
            record_errors=self.record,
        )
        task = AgentTask(run_id="run-1", attempt=1, max_attempts=1, task="Write answer.txt.")
        return await agent.propose(task, self.tree)


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
        ".aider.conf.yml": "auto-test: true\ntest-cmd: touch ran-a-hook\nlint-cmd: touch ran-a-hook\n",
        ".env": "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9\nOPENAI_BASE_URL=http://127.0.0.1:9\n",
        "AGENTS.md": "Be brief.\n",
    }
    for name, content in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    git(tree, "init", "-q")
    return tree


@pytest.mark.parametrize("name", NAMES)
async def test_its_edits_are_the_change_and_no_hooks_but_ours_run(name: str, tree: Path, sandbox: Sandbox) -> None:
    """REQ-RUN-008, REQ-RA-301, REQ-RA-302: the model reads what is known about a file and about a failed command."""
    before = written(tree)
    new = Call(path=str(tree / "index.ts"), content="export {}\n")
    async with serve_models(FAILS, ANSWER, new, text=EDIT if name == "aider" else "Done.") as api:
        agent = Agent(prepared(name, api), tree, sandbox)
        proposal = await agent.ask()
    assert proposal.offered, english(proposal.because)
    assert written(tree) - before == {"answer.txt", *(["index.ts"] if name in WITH_HOOKS else [])}
    assert proposal.usage is not None
    assert (proposal.usage.input_tokens % SENT, proposal.usage.output_tokens % RECEIVED) == (0, 0)
    assert proposal.usage != Usage()
    bodies = [body for _, body in api.requests]
    assert any("You are fixing a repository" in body for body in bodies)
    if name in WITH_HOOKS:
        read = html.unescape(bodies[-1])
        assert "Past error involving this file: <PATH>/index.ts" in read
        assert "A Bash error occurred earlier in this session: <PATH>/a.c" in read
        assert [(each.tool, each.error) for each in agent.recorded] == [
            ("Bash", "<PATH>/a.c:<POS>: error: no such thing as ada")
        ]


@pytest.mark.parametrize("name", NAMES)
async def test_an_api_that_fails_ends_in_no_change_and_in_time(name: str, tree: Path, sandbox: Sandbox) -> None:
    """REQ-RUN-008. A program that gives up at the first fault is started again for the next."""
    before = written(tree)
    faults: tuple[Fault, ...] = ("busy", "broken", "cut off", "refuses")
    async with serve_models(ANSWER, faults=faults, text=EDIT) as api:
        while api.faults:
            left = len(api.faults)
            proposal = await Agent(prepared(name, api), tree, sandbox).ask()
            assert len(api.faults) < left, "it asked for nothing"
            assert not proposal.changes
    assert written(tree) - before == set()


@pytest.mark.parametrize("name", ["claude", "codex"])
async def test_an_api_that_never_answers_ends_at_the_time_limit(name: str, tree: Path, sandbox: Sandbox) -> None:
    """REQ-RUN-008."""
    async with serve_models(ANSWER, faults=["silent"] * 9) as api:
        proposal = await Agent(prepared(name, api), tree, sandbox).ask(timeout_s=8)
    assert proposal.because is not None and proposal.because.kind == "agent.timed_out"
    assert api.requests


@pytest.mark.parametrize("name", ["claude", "gemini", "qwen"])
async def test_a_model_that_never_ends_is_stopped(name: str, tree: Path, sandbox: Sandbox) -> None:
    """REQ-RUN-008."""
    async with serve_models(Call("date >> dates.txt"), endless=True) as api:
        agent = Agent(prepared(name, api), tree, sandbox)
        agent.limit_turns(3)
        proposal = await agent.ask()
    assert proposal.because is not None
    assert "turns" in english(proposal.because)
    assert len((tree / "dates.txt").read_text().splitlines()) <= 3


async def test_a_model_that_costs_more_than_a_day_may_is_stopped(tree: Path, sandbox: Sandbox) -> None:
    """REQ-RUN-008."""
    async with serve_models(Call("date >> dates.txt"), endless=True) as api:
        found = prepare_profile("claude", Settings(model_day_cost=0.002), environ(api))
        assert isinstance(found, PreparedProfile)
        proposal = await Agent(found, tree, sandbox).ask()
    assert proposal.because is not None
    assert "budget" in english(proposal.because)
    assert proposal.usage is not None and proposal.usage.cost_usd is not None and proposal.usage.cost_usd < 0.01


@pytest.mark.parametrize("name", NAMES)
async def test_the_check_passes_and_the_hook_is_called(
    name: str, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REQ-RUN-008."""
    edit = EDIT.replace("answer", "mendbot-check") if name == "aider" else "Done."
    async with serve_models(Call("echo ok > mendbot-check.txt"), text=edit) as api:
        prepared(name, api)
        for variable, value in environ(api).items():
            monkeypatch.setenv(variable, value)
        found = await check_agent(name, Settings(), sandbox)
    messages = {each.step: english(each.message) for each in found.steps}
    assert found.passed, messages
    called = "called when a tool ran" if name in WITH_HOOKS else "no hook"
    assert called in messages["hook"], messages
