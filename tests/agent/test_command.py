"""The command agent with real programs in the real box: what they print, edit, and how they fail."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.command import TAIL_BYTES, CommandAgent, read_changes
from bot.model import AgentTask, Change, Proposal, Usage
from bot.reports.locale.reasons import english
from tests.agent.runner import boxed
from tests.machine import CPU_S, PATIENCE_S, PYTHON

TASK = AgentTask(run_id="r1", attempt=1, max_attempts=3, task="make it pass")
CHANGES = '{"changes": [{"path": "a.py", "content": "x"}]}'
READ = (Change(path="a.py", content="x"),)


async def ask(tree: Path, script: str, *arguments: str, **settings: Any) -> Proposal:
    agent = CommandAgent(boxed, (PYTHON, "-c", script, *arguments), **settings)
    return await agent.propose(TASK, tree)


async def test_the_brief_is_on_stdin_and_the_tree_is_the_directory(tmp_path: Path) -> None:
    proposal = await ask(tmp_path, "import sys,os; open('brief','w').write(os.getcwd() + '\\n' + sys.stdin.read())")
    brief = (tmp_path / "brief").read_text()
    assert brief.startswith(f"{tmp_path}\n")
    assert "make it pass" in brief
    assert proposal == Proposal(agent="command", offered=True, edited_in_place=True, usage=Usage())


async def test_the_worktree_is_filled_into_argv(tmp_path: Path) -> None:
    await ask(tmp_path, "import sys; open('said','w').write(sys.argv[1])", "--dir={worktree}/src")
    assert (tmp_path / "said").read_text() == f"--dir={tmp_path}/src"


async def test_without_a_kit_there_are_no_settings_to_fill_in(tmp_path: Path) -> None:
    await ask(tmp_path, "import sys; open('said','w').write(sys.argv[1])", "{settings}")
    assert (tmp_path / "said").read_text() == "{settings}"


async def test_it_receives_the_variables_and_paths_that_it_was_given(tmp_path: Path) -> None:
    tree, bind = tmp_path / "tree", tmp_path / "bind"
    tree.mkdir()
    bind.mkdir()
    (bind / "f").write_text("bound")
    script = f"import os; open('said','w').write(os.environ['KEY'] + open({str(bind / 'f')!r}).read())"
    await ask(tree, script, env={"KEY": "value"}, read_only=(bind,))
    assert (tree / "said").read_text() == "valuebound"


@pytest.mark.parametrize(
    "printed",
    [
        CHANGES,
        f"\n  {CHANGES}\n\n",
        f"I thought about it.\n```json\n{CHANGES}\n```\nDone.",
        f'{{"changes": [{{"path": "old", "content": "y"}}]}}\n{CHANGES}\n{{"type": "usage", "tokens": 3}}',
        json.dumps({"summary": 'a "changes" in words: {"', "changes": json.loads(CHANGES)["changes"]}, indent=2),
        f'{{broken {{"a": \n{CHANGES}',
        "{" * 5000 + CHANGES,
    ],
    ids=["alone", "space", "fenced", "last of many", "pretty", "after broken", "after braces"],
)
async def test_printed_changes_are_the_proposal(tmp_path: Path, printed: str) -> None:
    proposal = await ask(tmp_path, f"print({printed!r})")
    assert proposal == Proposal(agent="command", offered=True, changes=READ, usage=Usage())


@pytest.mark.parametrize(
    "printed",
    ["", "garbage {", "[1, 2]", '{"changes": []}', '{"other": 1}', "\\x00\\xff", "null", '{"a": ' * 3000],
)
async def test_whatever_else_is_printed_leaves_the_edits_in_the_tree(tmp_path: Path, printed: str) -> None:
    proposal = await ask(tmp_path, f"print({printed!r}); open('edited', 'w').write('x')")
    assert proposal == Proposal(agent="command", offered=True, edited_in_place=True, usage=Usage())
    assert (tmp_path / "edited").read_text() == "x"


@pytest.mark.parametrize("changes", ["[{}]", '[{"path": 3}]', '"all"', '[{"path": "a", "chmod": 7}]', "{}"])
async def test_changes_that_cannot_be_read_are_noted_and_the_edits_count(tmp_path: Path, changes: str) -> None:
    proposal = await ask(tmp_path, f"print({{'changes': 0}} and '{{\"changes\": %s}}' % {changes!r})")
    assert (proposal.offered, proposal.changes, proposal.edited_in_place) == (True, (), True)
    assert "can't be read" in english(proposal.note)


async def test_a_hundred_megabytes_are_survived_and_the_answer_after_them_is_found(tmp_path: Path) -> None:
    script = f"import sys\nfor _ in range(100): sys.stdout.write('noise {{' * 150_000)\nprint({CHANGES!r})"
    proposal = await ask(tmp_path, script)
    assert proposal.offered
    assert proposal.changes == READ


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        (f"print({CHANGES!r}); raise SystemExit(1)", "exit code 1"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "exit code"),
        ("import time; time.sleep(60)", "time limit of 1 s"),
        (f"print({CHANGES!r}, flush=True); import time; time.sleep(60)", "time limit of 1 s"),
    ],
    ids=["fails", "fails after printing", "dies", "hangs", "hangs after printing"],
)
async def test_an_agent_that_fails_offers_nothing_and_says_why(tmp_path: Path, script: str, note: str) -> None:
    proposal = await ask(tmp_path, script, timeout_s=1.0 if "sleep" in script else PATIENCE_S)
    assert (proposal.offered, proposal.changes, proposal.edited_in_place) == (False, (), False)
    assert note in english(proposal.because)


async def test_a_program_that_is_missing_or_not_configured_offers_nothing(tmp_path: Path) -> None:
    missing = await CommandAgent(boxed, ("no-such-agent",)).propose(TASK, tmp_path)
    assert not missing.offered
    assert "no-such-agent" in english(missing.because)
    unset = await CommandAgent(boxed, ()).propose(TASK, tmp_path)
    assert not unset.offered
    assert "MENDBOT_AGENT_COMMAND" in english(unset.because)


@pytest.mark.parametrize(
    "noise", [b'{"a":', b'{"a', b'{"', b'{"a":"', b'{"a":[', b'{"a":1,', b'{"changes":', b"{" * 10 + b'"', b'{"a":1}']
)
def test_hostile_output_is_read_in_little_time(noise: bytes) -> None:
    began = time.process_time()
    read_changes(noise * (TAIL_BYTES // len(noise)))
    assert time.process_time() - began < CPU_S


@given(st.binary(max_size=300) | st.text(st.sampled_from('{}[]":,changespath 1\n'), max_size=300).map(str.encode))
def test_any_output_is_read_without_an_error(output: bytes) -> None:
    changes, note = read_changes(output)
    assert isinstance(changes, tuple)
    assert isinstance(english(note), str)


@given(st.text(max_size=200), st.text(max_size=200))
def test_changes_are_found_between_any_text_that_holds_no_braces(before: str, after: str) -> None:
    printed = f"{before.replace('{', '')}\n{CHANGES}\n{after.replace('{', '')}"
    assert read_changes(printed.encode("utf-8", "replace")) == (READ, None)
