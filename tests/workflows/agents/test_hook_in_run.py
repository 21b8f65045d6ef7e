"""The command agent of a run has the hook, and what its tools say goes into the history under the run's own name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.model import Resolution, Status
from bot.rules.runs.state import RunState
from bot.store.database.tables import events
from bot.workflows.agents.build_agents import kit_dir
from tests.machine import PYTHON
from tests.workflows.conftest import NAME, Harness
from tests.workflows.whole_run import ERROR, go, judged

AtDesk = Callable[..., Any]
SECRET = "lent-by-the-operator-2718281828"
AGENT = f"""import json, os, subprocess, sys

settings, out = json.load(open(sys.argv[1])), sys.argv[2]

def hook(event, **request):
    command = settings["hooks"][event][0]["hooks"][0]["command"]
    request = dict(request, session_id="run-1", hook_event_name=event)
    return subprocess.run(["sh", "-c", command], input=json.dumps(request), capture_output=True, text=True).stdout

said = [
    hook("PreToolUse", tool_name="Edit", tool_input={{"file_path": os.path.abspath("answer.txt")}}),
    hook("PreToolUse", tool_name="Bash", tool_input={{"command": "make"}}),
]
hook("PostToolUseFailure", tool_name="Bash", error="Error: the token {SECRET} is wrong")
hook("PostToolUseFailure", tool_name="Bash", error="Exit code 2\\nError: no rule to make target")
with open(out, "a") as file:
    file.write(json.dumps(said) + "\\n")
again = os.path.getsize(out) > len(json.dumps(said)) + 1
open("answer.txt", "w").write("42\\n" if again else "43\\n")
"""
"""Asks the hook before two tools and tells it of two failures, one of them with a secret, under a run's id as its
session's; only its second attempt is right."""


def hooked(at_desk: AtDesk, tmp_path: Path, work: Any) -> Any:
    script, out = tmp_path / "agent.py", tmp_path / "said.jsonl"
    script.write_text(AGENT)
    command = (PYTHON, str(script), "{settings}", str(out))
    return at_desk(work, agent_command=command, agent_env=("MODEL_KEY",), language="en")


def test_a_runs_command_agent_has_the_hook_and_the_history_has_what_failed(
    at_desk: AtDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REQ-RA-302, REQ-RA-312, REQ-RUN-008: the hook answers in the box from what the repository may know, failed tools
    go into `events` masked and are known to the next attempt; a session named like the run harms none."""
    monkeypatch.setenv("MODEL_KEY", SECRET)

    async def work(at: Harness) -> tuple[RunState, list[tuple[str, str]], bool]:
        judged(at)
        history = at.context.stores.history
        proven = Resolution(resolved_by="ada", tool="Bash", tool_sequence=("Read", "Edit"), repo=NAME)
        await history.record(ERROR, proven)
        await history.record("Error: no rule to make target", proven)
        await history.record("answer.txt: not for everybody", proven.model_copy(update={"repo": "octo/other"}))
        state = await go(at, "run-1", agents=("command",))
        query = sa.select(events.c.session_id, sa.cast(events.c.data, sa.Text).label("data"))
        query = query.where(events.c.type == "tool_error").order_by(events.c.id)
        rows = await at.database.read(lambda connection: connection.execute(query).all())
        told = [(row.session_id, row.data) for row in rows]
        return state, told, kit_dir(at.context.settings, "run-1").exists()

    state, rows, left = hooked(at_desk, tmp_path, work)
    assert (state.finished, state.attempt, left) == (Status.SUCCESS, 2, False)
    first, second = (json.loads(line) for line in (tmp_path / "said.jsonl").read_text().splitlines())
    assert ERROR in first[0] and "Read → Edit" in first[0] and "not for everybody" not in first[0]
    assert first[1] == "", "there was no failure yet"
    assert "Error: no rule to make target" in second[1], "the second attempt does not know the first one's failures"
    assert {session for session, _ in rows} == {"run-1:run-1"}
    assert len(rows) == 4
    assert all(SECRET not in data for _, data in rows)
    assert "is wrong" in rows[0][1] and "no rule to make target" in rows[1][1]


def test_a_tool_error_under_a_runs_own_id_is_none_of_its_events(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[str]:
        judged(at)
        await at.run("run-1", at.issue())
        await at.context.stores.history.tool_error("run-1", "session_finished", "boom", project=NAME)
        return [event.type for event in await at.runs.events("run-1")]

    assert at_desk(work) == []


def test_the_kit_goes_also_where_the_agent_failed(at_desk: AtDesk, tmp_path: Path) -> None:
    async def work(at: Harness) -> tuple[Status | None, bool, str]:
        judged(at)
        state = await go(at, "run-1", agents=("command:sh -c 'cp {settings} answer.txt; exit 3'",))
        return state.finished, kit_dir(at.context.settings, "run-1").exists(), state.stop.reason if state.stop else ""

    assert at_desk(work) == (Status.FAILED, False, "nothing_to_offer")
