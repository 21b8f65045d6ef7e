"""The hook in the box: an agent's script finds it by the settings it was given, and what failed comes back to the bot
(issue flow of REQ-RUN-008; threats.md, Rulings)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.agent.command import CommandAgent
from bot.agent.hook_bundle import HookBundle, ToolError, make_bundle
from bot.model import AgentTask, Proposal, Resolution
from bot.store.database.database import Database
from bot.store.history.history import History
from bot.store.history.snapshot import tool_session_id, write_snapshot
from tests.agent.runner import boxed
from tests.machine import PYTHON

TASK = AgentTask(run_id="run-1", attempt=1, max_attempts=3, task="make it pass")
ADA = Resolution(resolved_by="ada", tool="Edit", tool_sequence=("Read", "Edit"), repo="ada/engine", patch="secret")
# a coding agent as far as its hooks go: settings from argv, an event's commands in a shell, JSON on their stdin
AGENT = """
import json, os, subprocess, sys
settings = json.load(open(sys.argv[1]))
assert sys.argv[1] == os.environ["MENDBOT_HOOK_SETTINGS"]
def event(name, **fields):
    said = []
    for group in settings["hooks"][name]:
        if fields["tool_name"] not in group["matcher"].split("|"):
            continue
        for hook in group["hooks"]:
            asked = json.dumps({"session_id": "s1", "hook_event_name": name, "cwd": os.getcwd(), **fields})
            done = subprocess.run(hook["command"], shell=True, input=asked.encode(), capture_output=True, check=True)
            assert done.stderr == b"", done.stderr
            if done.stdout:
                said.append(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])
    return said
"""


class House:
    """What the bot has around an agent: a history, kits outside the tree, and what it learnt."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "home"
        self.tree = tmp_path / "tree"
        self.tree.mkdir()
        self.database = Database(f"sqlite:///{self.home / 'mendbot.db'}")
        self.database.migrate()
        self.history = History(self.database)
        self.learnt: list[ToolError] = []

    async def kit(self, run_id: str) -> HookBundle:
        kit = make_bundle(self.home / "kits" / run_id)
        await write_snapshot(self.database, kit.database, repo="ada/engine", session=run_id)
        return kit

    async def learn(self, run_id: str, errors: Sequence[ToolError]) -> None:
        self.learnt += errors
        for error in errors:
            await self.history.tool_error(tool_session_id(run_id, error.session_id), error.tool, error.error)

    async def run(self, script: str) -> Proposal:
        argv = (PYTHON, "-c", AGENT + script, "{settings}")
        agent = CommandAgent(boxed, argv, make_bundle=self.kit, record_errors=self.learn)
        return await agent.propose(TASK, self.tree)

    async def said(self, script: str) -> list[str]:
        proposal = await self.run(f"{script}\nopen('said', 'w').write(json.dumps(said))")
        assert proposal.offered, proposal.note
        found: list[str] = json.loads((self.tree / "said").read_text(encoding="utf-8"))
        (self.tree / "said").unlink()
        assert list(self.tree.iterdir()) == [], "the kit left something in the tree"
        return found


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def test_before_an_edit_the_agent_hears_of_the_files_past_errors(house: House) -> None:
    """REQ-RA-301, in the box and of this repository alone."""
    await house.history.record("/a/index.ts(3,4): error TS2345: no", ADA)
    await house.history.record("/a/index.ts: theirs", ADA.model_copy(update={"repo": "eve/secrets"}))
    said = await house.said("said = event('PreToolUse', tool_name='Edit', tool_input={'file_path': '/x/src/index.ts'})")
    assert said == [
        "⚠️ Past error involving this file: <PATH>/index.ts(<POS>): error TS2345: no\n"
        "How it was resolved: ada (Edit)\nPath to the resolution: Read → Edit"
    ]


FAILED = """
noise = 'x' * 3000 + '\\n'
text = 'Exit code 2\\n' + noise + '/code/a.c:3:4: error: no such thing as ada\\nmake: *** [all] Error 1'
assert event('PostToolUseFailure', tool_name='Bash', tool_input={'command': 'make'}, error=text) == []
"""


async def test_a_failure_is_known_before_the_next_bash_and_then_to_the_bot(house: House) -> None:
    """REQ-RA-302: the session's error of this very run, though the box has no database to write to."""
    await house.history.record("src/a.c:9:9: error: no such thing as ada", ADA)
    said = await house.said(FAILED + "said = event('PreToolUse', tool_name='Bash', tool_input={'command': 'make'})")
    assert said == [
        "💡 A Bash error occurred earlier in this session: <PATH>/a.c:<POS>: error: no such thing as ada\n"
        "Path to the earlier resolution: Read → Edit"
    ]
    (error,) = house.learnt
    assert (error.tool, error.session_id) == ("Bash", "s1")
    assert error.error == "<PATH>/a.c:<POS>: error: no such thing as ada"
    assert error.raw.startswith("Exit code 2\n")
    assert make_bundle(house.home / "kits" / "run-1").take_errors() == (), "taken twice"


async def test_the_next_attempt_of_the_same_session_knows_it_from_the_snapshot(house: House) -> None:
    await house.history.record("src/a.c:9:9: error: no such thing as ada", ADA)
    await house.said(FAILED + "said = []")
    said = await house.said("said = event('PreToolUse', tool_name='Bash', tool_input={'command': 'make'})")
    assert len(said) == 1


async def test_of_the_kit_the_box_may_write_the_spool_alone(house: House) -> None:
    script = """
import pathlib
kit = pathlib.Path(os.environ["MENDBOT_HOME"])
said = []
for act in (
    lambda: (kit / "settings.json").write_text("{}"),
    lambda: (kit / "new").write_text("x"),
    lambda: (kit / "mendbot.db").unlink(),
    lambda: (kit / "spool.jsonl").unlink(),
    lambda: (kit / "spool.jsonl").rename(kit / "gone"),
):
    try:
        act()
    except OSError:
        continue
    said.append("could")
with open(kit / "spool.jsonl", "a") as spool:
    spool.write("garbage\\n" + json.dumps({"tool": "Bash", "error": "by hand", "session_id": "s"}) + "\\n")
"""
    assert await house.said(script) == []
    assert house.learnt == [ToolError(tool="Bash", error="by hand", session_id="s")]


async def test_an_agent_that_fails_has_still_told_what_failed(house: House) -> None:
    proposal = await house.run(FAILED + "raise SystemExit(3)")
    assert not proposal.offered
    assert [error.tool for error in house.learnt] == ["Bash"]
