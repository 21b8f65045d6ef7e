"""The hook after a tool: what counts as a failure, where it is noted, and that nothing makes it fail."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.hook_bundle import ToolError, make_bundle
from bot.agent.hook_post import MAX_LINE, MAX_SPOOL, Failure, error_of_output, read_failure
from bot.model import Resolution
from bot.store.database.database import Database
from bot.store.history.history import History

POST = (sys.executable, "-m", "bot", "hook", "post-tool")
FAILED: Mapping[str, Any] = {
    "session_id": "s1",
    "cwd": "/code/engine",
    "hook_event_name": "PostToolUseFailure",
    "tool_name": "Bash",
    "tool_input": {"command": "make"},
    "error": "Exit code 2\nsrc/a.c:3:4: error: boom",
    "is_interrupt": False,
}
BOOM = "<PATH>/a.c:<POS>: error: boom"


def post(stdin: bytes, home: Path, **env: str) -> None:
    done = subprocess.run(
        POST,
        input=stdin,
        capture_output=True,
        env={"PATH": os.environ["PATH"], "MENDBOT_HOME": str(home), **env},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def sent(home: Path, event: Mapping[str, Any] = FAILED, **env: str) -> None:
    post(json.dumps(event).encode(), home, **env)


def read(event: Mapping[str, Any]) -> Failure | None:
    return read_failure(json.dumps(event).encode())


def noted(home: Path) -> list[tuple[str, str, dict[str, Any]]]:
    with sqlite3.connect(home / "mendbot.db") as database:
        rows = database.execute("SELECT type, session_id, data FROM events ORDER BY id").fetchall()
    database.close()
    return [(kind, session, json.loads(data)) for kind, session, data in rows]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    database = Database(f"sqlite:///{tmp_path / 'mendbot.db'}")
    database.migrate()
    database.close()
    return tmp_path


def test_at_home_a_failure_is_an_event_of_its_session(home: Path) -> None:
    """REQ-RA-302: `$.error` holds the normalised text, the raw one stands beside it."""
    sent(home)
    data = {"tool": "Bash", "error": BOOM, "errorRaw": FAILED["error"]}
    assert noted(home) == [("tool_error", "s1", data)]
    assert [path.name for path in home.iterdir()] == ["mendbot.db"]


async def test_what_the_bot_records_and_what_the_hook_notes_are_one_text(home: Path) -> None:
    sent(home)
    database = Database(f"sqlite:///{home / 'mendbot.db'}")
    history = History(database)
    await history.record("/other/a.c:77:1: error: boom", Resolution(resolved_by="ada"))
    database.close()
    asked = json.dumps({"session_id": "s1", "tool_name": "Bash"}).encode()
    env = {"PATH": os.environ["PATH"], "MENDBOT_HOME": str(home)}
    done = subprocess.run((*POST[:-1], "pre-tool"), input=asked, capture_output=True, env=env, check=True)
    assert BOOM in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_a_credential_is_masked_before_it_is_stored(home: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    sent(home, {**FAILED, "error": f"error: no access with {token}"})
    ((_, _, data),) = noted(home)
    assert token not in json.dumps(data) and "***" in data["error"]


@pytest.mark.parametrize(
    "event",
    [
        {**FAILED, "is_interrupt": True},
        {**FAILED, "error": ""},
        {**FAILED, "error": {"code": 3}},
        {**FAILED, "tool_name": ""},
        {**FAILED, "session_id": None},
        {**FAILED, "hook_event_name": "PreToolUse"},
        {**FAILED, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "fine", "stderr": "warning"}},
        {**FAILED, "hook_event_name": "PostToolUse", "tool_response": {"exit_code": 0, "stderr": "x"}},
        {**FAILED, "hook_event_name": "PostToolUse", "tool_response": {"exit_code": 1, "interrupted": True}},
        {**FAILED, "hook_event_name": "PostToolUse", "tool_response": "error: only words"},
        {**FAILED, "hook_event_name": "AfterTool", "tool_response": {"llmContent": "Exit Code: 3\nExit Code: 0"}},
    ],
)
def test_what_is_no_failure(event: Mapping[str, Any]) -> None:
    assert read(event) is None


@pytest.mark.parametrize(
    "event",
    [
        FAILED,
        {**FAILED, "hook_event_name": "postToolUseFailure", "error": None, "error_message": "boom"},
        {**FAILED, "error": {"message": "boom"}},
        {**FAILED, "hook_event_name": "PostToolUse", "tool_response": {"is_error": True, "content": "boom"}},
        {**FAILED, "hook_event_name": "PostToolUse", "tool_response": {"exitCode": 2, "stderr": "boom"}},
        {
            **FAILED,
            "hook_event_name": "PostToolUse",
            "tool_response": {"success": False, "content": [{"type": "text", "text": "boom"}]},
        },
        {
            **FAILED,
            "hook_event_name": "AfterTool",
            "tool_name": "run_shell_command",
            "tool_response": {"llmContent": "Output: boom\nExit Code: 3\nSignal: 0", "returnDisplay": "boom"},
        },
    ],
)
def test_the_shapes_in_which_agents_tell_of_a_failure(event: Mapping[str, Any]) -> None:
    failure = read(event)
    assert failure is not None and "boom" in failure.text
    assert failure.certain
    assert (failure.tool, failure.session_id, failure.cwd) == ("Bash", "s1", "/code/engine")


async def test_of_output_without_an_exit_code_only_a_known_error_is_recorded(home: Path) -> None:
    """Codex reports what a command printed, and not how it ended."""
    event = {**FAILED, "hook_event_name": "PostToolUse", "turn_id": "1", "tool_response": "src/a.c:3:4: error: boom"}
    sent(home, event)
    assert noted(home) == []
    database = Database(f"sqlite:///{home / 'mendbot.db'}")
    await History(database).record(BOOM, Resolution(resolved_by="ada"))
    database.close()
    sent(home, event)
    assert [data["error"] for kind, _, data in noted(home) if kind == "tool_error"] == [BOOM]


def test_the_telling_error_is_the_one_that_is_known_else_the_first() -> None:
    text = "Exit code 1\na.py:1: error: first\nb.py:2: error: second\n"
    first, second = "a.py:<POS>: error: first", "b.py:<POS>: error: second"
    assert error_of_output(text, lambda _: False) == first
    assert error_of_output(text, lambda error: error == second) == second
    assert error_of_output("Exit code 127\nmake is not here", lambda _: False) == "make is not here"
    assert error_of_output("Exit code 1", lambda _: False) == "Exit code 1"


def test_in_a_box_it_is_a_line_of_the_spool_and_the_snapshot_stays(home: Path) -> None:
    kit = make_bundle(home)
    before = kit.database.read_bytes()
    sent(home)
    sent(home, {**FAILED, "error": '\\"\0é' * 20_000, "tool_name": "T\1" * 400, "session_id": "é" * 900})
    assert all(len(line) < MAX_LINE for line in kit.spool.read_bytes().split(b"\n"))
    first, second = kit.take_errors()
    assert (first.tool, first.error, first.session_id, first.raw) == ("Bash", BOOM, "s1", FAILED["error"])
    assert isinstance(second, ToolError) and second.session_id == "é" * 200
    assert kit.database.read_bytes() == before


def test_without_a_snapshot_it_is_noted_all_the_same(tmp_path: Path) -> None:
    kit = make_bundle(tmp_path)
    sent(tmp_path)
    assert [error.error for error in kit.take_errors()] == [BOOM]


def test_a_spool_that_is_full_or_none_is_left_alone(tmp_path: Path) -> None:
    kit = make_bundle(tmp_path)
    kit.spool.write_bytes(b"x" * MAX_SPOOL)
    sent(tmp_path)
    assert kit.spool.stat().st_size == MAX_SPOOL
    kit.spool.unlink()
    aim = tmp_path / "aim"
    aim.touch()
    kit.spool.symlink_to(aim)
    sent(tmp_path)
    assert aim.read_bytes() == b""
    kit.spool.unlink()
    os.mkfifo(kit.spool)
    sent(tmp_path)


@pytest.mark.parametrize("stdin", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"tool_name": 7}'])
def test_broken_input_says_and_notes_nothing(home: Path, stdin: bytes) -> None:
    post(stdin, home)
    assert noted(home) == []


def test_two_megabytes_no_database_a_locked_one_and_silence(home: Path, tmp_path: Path) -> None:
    sent(home, {**FAILED, "tool_input": {"content": "x" * 2_000_000}})
    assert len(noted(home)) == 1
    sent(home, MENDBOT_ENABLED="false")
    sent(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    sent(home, MENDBOT_DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    lock = sqlite3.connect(home / "mendbot.db", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    sent(home)
    lock.close()
    assert len(noted(home)) == 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["error", "exit_code", "content"]), inner)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*FAILED, "tool_response"]), _JSON))
def test_no_event_makes_it_fail(fields: dict[str, Any]) -> None:
    failure = read({**FAILED, **fields})
    if failure is not None:
        assert failure.text.strip() and failure.tool
        (failure.tool + failure.text + failure.session_id).encode()
        error_of_output(failure.text, lambda _: False)
