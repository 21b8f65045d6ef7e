"""The operator's command agent gets what the operator lends it; a repository's own command line gets nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.agent.command import CommandAgent
from bot.agent.fixers import FixersAgent
from bot.agent.llm import ModelAgent
from bot.agent.unavailable import UnavailableAgent
from bot.config import Policy, Settings, parse_policy
from bot.errors import ConfigError
from bot.model import AgentTask, Proposal
from bot.reports.locale.reasons import english
from bot.workflows.agents.build_agents import AgentFactory, check_specs
from bot.workspace.sandbox.sandbox import open_sandbox
from tests.workflows.conftest import Harness

AtDesk = Callable[..., Any]
SHOW = ("sh", "-c", "echo ${MODEL_KEY:-nothing} > seen.txt")
LENT = {"agent_command": SHOW, "agent_env": ("MODEL_KEY",), "agent_network": True}


async def made(at: Harness, settings: Settings, *specs: str, policy: Policy | None = None) -> list[Any]:
    history = at.context.stores.history
    bench = AgentFactory(settings=settings, sandbox=at.context.sandbox, database=at.database, history=history, mask=str)
    (at.context.settings.home / "tree").mkdir(exist_ok=True)
    row = await at.run(f"run-{len(specs)}", 1, agents=specs, **({"policy": policy} if policy else {}))
    return list(bench.developers(row))


async def seen_by(at: Harness, developer: Any) -> str:
    tree = at.context.settings.home / "tree"
    task = AgentTask(run_id="run-1", attempt=1, max_attempts=3, task="fix it")
    proposal: Proposal = await developer.propose(task, tree)
    assert proposal.offered, proposal.note
    return (tree / "seen.txt").read_text().strip()


def test_the_operators_command_receives_the_variables_that_the_operator_names(
    at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "lent-by-the-operator")

    async def work(at: Harness) -> tuple[str, bool]:
        (developer,) = await made(at, at.context.settings, "command")
        return await seen_by(at, developer), developer.network

    assert at_desk(work, **LENT) == ("lent-by-the-operator", True)


def test_a_program_that_the_sandbox_does_not_show_is_explained_with_the_remedy(at_desk: AtDesk, tmp_path: Path) -> None:
    """The file exists, so that it does not would help nobody."""
    path = tmp_path / "work" / "agent.sh"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)

    async def work(at: Harness) -> str:
        await made(at, at.context.settings, "command")
        sandboxed = await open_sandbox("bubblewrap", ())
        factory = AgentFactory(at.context.settings, sandboxed, at.database, at.context.stores.history, str)
        row = await at.row("run-1")
        at.context.git_dir(row.id, row.spec).mkdir(parents=True, exist_ok=True)
        (developer,) = factory.developers(row)
        task = AgentTask(run_id="run-1", attempt=1, max_attempts=3, task="fix it")
        proposal: Proposal = await developer.propose(task, at.context.settings.home / "tree")
        return english(proposal.because)

    assert at_desk(work, agent_command=(str(path),)) == (
        f"the agent's program `{path}` exists at {path}, but the sandbox does not show it: "
        f"set MENDBOT_AGENT_BINDS={path}"
    )


def test_a_repositorys_own_command_line_receives_nothing(at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "lent-by-the-operator")

    async def work(at: Harness) -> tuple[str, bool, tuple[Path, ...]]:
        (developer,) = await made(at, at.context.settings, f"command:sh -c '{SHOW[2]}'")
        return await seen_by(at, developer), developer.network, developer.read_only

    assert at_desk(work, **LENT, agent_binds=(Path("/opt"),)) == ("nothing", False, ())


def test_agents_are_asked_in_the_order_of_the_specs(at_desk: AtDesk) -> None:
    """REQ-RUN-008."""

    async def work(at: Harness) -> list[type]:
        return [
            type(developer) for developer in await made(at, at.context.settings, "command:true", "fixers", "command")
        ]

    assert at_desk(work) == [CommandAgent, FixersAgent, CommandAgent]


def test_a_repositorys_fixers_win_over_detection(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[str]:
        policy = Policy(fixers=("make format", ("ruff", "check", "--fix")))
        (developer,) = await made(at, at.context.settings, "fixers", policy=policy)
        return [command.text for command in developer.configured]

    assert at_desk(work) == ["make format", "ruff check --fix"]


@pytest.mark.parametrize(
    ("text", "configured"), [("fixers: []\n", ()), ("max_attempts: 2\n", None)], ids=["none", "not set"]
)
def test_no_fixers_and_fixers_that_are_not_named_are_two_things(
    at_desk: AtDesk, text: str, configured: tuple[()] | None
) -> None:
    """The first means none at all, with the second they are found in the project's files."""

    async def work(at: Harness) -> Any:
        policy = parse_policy(text)
        assert isinstance(policy, Policy)
        (developer,) = await made(at, at.context.settings, "fixers", policy=policy)
        return developer.configured

    assert at_desk(work) == configured


@pytest.mark.parametrize("spec", ["", "gpt", "command:", "command: ", "fixers:x", "bash"])
def test_an_unknown_agent_is_refused_by_name(at_desk: AtDesk, spec: str) -> None:
    with pytest.raises(ConfigError, match="unknown agent"):
        check_specs(["fixers", spec])

    async def work(at: Harness) -> None:
        await made(at, at.context.settings, spec)

    with pytest.raises(ConfigError, match="unknown agent"):
        at_desk(work)


def test_a_model_is_asked_only_where_the_operator_named_it(at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    """REQ-RUN-008: a repository's configuration cannot spend the operator's money."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-the-operator")

    async def work(at: Harness) -> list[Any]:
        specs = ("llm:openai:gpt-5", "llm:openai:gpt-5-pro")
        named, other = await made(at, at.context.settings, *specs)
        task = AgentTask(run_id="run-1", attempt=1, max_attempts=3, task="fix it")
        proposal: Proposal = await other.propose(task, Path("/"))
        return [named.name, type(named), proposal.offered, english(proposal.because)]

    found = at_desk(work, agents=("llm:openai:gpt-5",))
    assert found[:3] == ["llm:openai:gpt-5", ModelAgent, False]
    assert "MENDBOT_AGENTS" in found[3]


def test_a_model_without_a_key_is_bad_input_and_no_agent_of_a_run(
    at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REQ-RUN-008."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="set OPENAI_API_KEY"):
        check_specs(["fixers", "llm:openai:gpt-5"])

    async def work(at: Harness) -> list[type]:
        return [type(developer) for developer in await made(at, at.context.settings, "llm:openai:gpt-5")]

    assert at_desk(work, agents=("llm:openai:gpt-5",)) == [UnavailableAgent]


def test_a_coding_agent_is_for_repositories_where_the_operator_chose_it(
    at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REQ-RUN-008: a repository's configuration cannot spend a key that the operator has for something else."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-of-the-operator")

    async def work(at: Harness) -> str:
        (developer,) = await made(at, at.context.settings, "claude")
        task = AgentTask(run_id="run-1", attempt=1, max_attempts=3, task="fix it")
        return english((await developer.propose(task, at.context.settings.home)).because)

    assert "add `claude` to MENDBOT_AGENTS" in at_desk(work)


def test_a_coding_agent_without_its_program_does_not_end_the_run(
    at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """REQ-RUN-008."""

    async def work(at: Harness) -> list[type]:
        monkeypatch.setenv("PATH", str(tmp_path))
        return [type(developer) for developer in await made(at, at.context.settings, "claude", "fixers")]

    assert at_desk(work, agents=("claude", "fixers")) == [UnavailableAgent, FixersAgent]
