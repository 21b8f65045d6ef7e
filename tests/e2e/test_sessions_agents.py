"""The agents of `mendbot fix`: what the operator lends to those that the command line names, and what is said of those
that could not start."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.e2e.session_faces import environment, run_command
from tests.e2e.session_projects import PLAIN, shell, write

KEY = "echo ${MODEL_KEY:-nothing} > answer.txt"
LENT = {"MODEL_KEY": "lent", "MENDBOT_AGENT_ENV": "MODEL_KEY"}


def fix(tree: Path, home: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    argv = ["fix", "--repo", str(tree), "--task", "The answer.", "--max-attempts", "1"]
    argv += ["--validation-command", "grep -q lent answer.txt", "--json", *args]
    return run_command(*argv, env=environment(home, **variables))


def test_what_the_operator_lends_is_lent_to_an_agent_of_the_command_line(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", PLAIN)
    assert fix(tree, tmp_path / "home", "--agent", shell(KEY)).returncode == 1
    done = fix(tree, tmp_path / "home", "--agent", shell(KEY), **LENT)
    assert (done.returncode, done.stderr, (tree / "answer.txt").read_text()) == (0, "", "lent\n")


def test_and_never_to_an_agent_that_the_repository_names(tmp_path: Path) -> None:
    policy = f"agents:\n  - {json.dumps(shell(KEY))}\n"
    tree = write(tmp_path / "tree", {**PLAIN, ".github/mendbot.yml": policy}, commit=True)
    done = fix(tree, tmp_path / "home", **LENT)
    assert done.returncode == 1
    assert "+nothing" in next((tmp_path / "home").glob("artifacts/*/*.diff")).read_text()


def test_an_agent_outside_of_the_sandbox_is_named_with_what_grants_it_before_anything_begins(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", PLAIN)
    agent = tmp_path / "opt" / "agent" / "bin" / "my-agent"
    agent.parent.mkdir(parents=True)
    agent.write_text("#!/bin/sh\necho lent > answer.txt\n")
    agent.chmod(0o755)
    done = fix(tree, tmp_path / "home", "--agent", f"command:{agent} --headless")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"mendbot: --agent: the agent's program `{agent}` exists at {agent}, but the sandbox does not show it: "
        f"set MENDBOT_AGENT_BINDS={agent.parent.parent}\n"
    )
    assert not list((tmp_path / "home").glob("artifacts/*/*"))
    done = fix(tree, tmp_path / "home", "--agent", f"command:{agent}", MENDBOT_AGENT_BINDS=str(agent.parent.parent))
    assert (done.returncode, (tree / "answer.txt").read_text()) == (0, "lent\n")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("command", "set MENDBOT_AGENT_COMMAND, or give `command:ARGV`"),
        ("command:no-such-agent", "`no-such-agent` was not found"),
        ("qwen", "`qwen`: "),
        ("calude", "unknown agent `calude`; did you mean `claude`?"),
        ("llm:openai", "write it as llm:PROVIDER:MODEL"),
        ("llm:deepseek:chat", "`llm:deepseek:chat` has no key: set DEEPSEEK_API_KEY"),
        ("llm:anthropc:x", "did you mean `anthropic`?"),
        ("wizard", "unknown agent `wizard`"),
    ],
)
def test_an_agent_that_cannot_be_asked_is_bad_input(tmp_path: Path, spec: str, said: str) -> None:
    tree = write(tmp_path / "tree", PLAIN)
    done = fix(tree, tmp_path / "home", "--agent", spec)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("mendbot: --agent: ") and said in done.stderr


def test_an_unknown_agent_of_the_operator_is_bad_input_before_any_check_runs(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", PLAIN)
    done = fix(tree, tmp_path / "home", MENDBOT_AGENTS="fixers,claud")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mendbot: MENDBOT_AGENTS: unknown agent `claud`; did you mean `claude`?\n"


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    """REQ-RUN-001."""
    argv = ["fix", "--repo", str(tmp_path), "--task", " ", "--agent", "wizard"]
    done = run_command(*argv, env=environment(tmp_path / "home"), cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    for said in ("--task: ", "--agent: unknown agent `wizard`", "--test-command: "):
        assert said in done.stderr
