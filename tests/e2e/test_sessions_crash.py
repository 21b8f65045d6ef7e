"""Sessions when a server or a `mendbot fix` on the same home is killed, and when both work beside one another (spec D,
contract: unfinished work goes on by itself within 10 seconds of a restart)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.server import Server
from tests.e2e.session_faces import TOKEN, Client, ended, fix, sleepers, start_fix, until
from tests.e2e.session_projects import IS_42, LONG, PLAIN, Doc, agent, photograph, put, shell, write
from tests.machine import PATIENCE_S

RIGHT = agent(put("answer.txt", "42\n"))
BASE = "grep -q 41 answer.txt"
_LOCAL = ("events", "artifacts", "artifactsPath", "diffPath", "logPath")
"""What a command says of its session beside what HTTP does."""
SLEEP = f"{BASE} || {{ echo >litter; sleep {LONG}; }}"
"""Passes on the base, and does not end after a change."""


def asked_of(tree: Path, *commands: str) -> Doc:
    return {
        "repo": str(tree),
        "task": "The answer is 42.",
        "validationCommands": commands or [IS_42],
        "agents": [RIGHT],
    }


@pytest.fixture
def client(serve: Callable[..., Server], tmp_path: Path) -> Client:
    return Client(serve(MENDBOT_WORKSPACE_ROOTS=str(tmp_path), MENDBOT_ADMIN_TOKEN=TOKEN))


def test_a_server_that_is_killed_goes_on_where_it_was(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-002, REQ-RUN-007: events survive a restart, the session goes on by itself within ten seconds, and the
    tree is taken to be what the session had made of it."""
    tree = write(tmp_path / "tree", PLAIN)
    once = f"{BASE} || [ -e .once ] || {{ touch .once; echo >litter; sleep {LONG}; }}"
    session_id = client.start(asked_of(tree, "true", once, IS_42))
    until(lambda: sleepers() == 1)
    told_before = client.session(session_id, "/events")
    client.bot.kill()
    client.bot.start()
    told = client.ended(session_id)
    assert (told["status"], told["iteration"]) == ("success", 1), told
    assert told["events"][: len(told_before)] == told_before
    assert len({event["id"] for event in told["events"]}) == len(told["events"])
    assert (tree / "answer.txt").read_text() == "42\n"
    assert sleepers() == 0
    assert "Traceback" not in client.bot.tail(10**7)


def test_killed_while_its_agent_works_it_asks_again(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-002: half a change that a crash left is put back before the agent is asked once more."""
    tree = write(tmp_path / "tree", PLAIN)
    script = f"[ -e half ] && exit 9; echo >half; sleep {LONG}"
    asked = {**asked_of(tree), "agents": [shell(script)]}
    session_id = client.start(asked)
    until(lambda: sleepers() == 1)
    client.bot.kill()
    until(lambda: sleepers() == 0)
    assert (tree / "half").exists()
    client.bot.start()
    until(lambda: sleepers() == 1)  # it found no `half`, or it would have ended
    client.ask("POST", f"/api/sessions/{session_id}/cancel")
    assert client.ended(session_id)["status"] == "cancelled"
    assert not (tree / "half").exists()
    assert "+++ b/half" in client.session(session_id, "/logs/found-1.diff")


def test_a_starting_server_ends_what_a_killed_command_left(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-002, REQ-RUN-009: the tree is put back and the session is told as failed, `abandoned`."""
    tree = write(tmp_path / "tree", PLAIN)
    before = photograph(tree)
    client.bot.kill()
    process = start_fix(asked_of(tree, SLEEP), client.bot.home)
    until(lambda: sleepers() == 1)
    process.kill()
    process.communicate(PATIENCE_S)
    client.bot.start()
    client.until(lambda: client.ask("GET", "/api/sessions")[1][0]["status"] == "failed")
    [session] = client.ask("GET", "/api/sessions")[1]
    assert session["stopReason"]["reason"] == "abandoned"
    assert photograph(tree) == before
    told = client.ended(client.start(asked_of(tree)))
    assert told["status"] == "success", told


def test_a_running_server_notices_a_killed_command(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-002: not only at its start, so that another session in the tree need not wait for ever."""
    tree = write(tmp_path / "tree", PLAIN)
    process = start_fix(asked_of(tree, SLEEP), client.bot.home)
    until(lambda: sleepers() == 1)
    waiting = client.start(asked_of(tree))
    client.until(lambda: "waitingFor" in client.session(waiting))
    process.kill()
    process.communicate(PATIENCE_S)
    told = client.ended(waiting)
    assert told["status"] == "success", told
    assert not (tree / "litter").exists()


def test_a_command_beside_a_server_on_one_home(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-009: both work at once in trees of their own, each sees the other's sessions, and in one tree the later
    one waits."""
    mine, served = write(tmp_path / "mine", PLAIN), write(tmp_path / "served", PLAIN)
    gate = f"{BASE} || until [ -e go ]; do sleep 0.05; done"
    session_id = client.start(asked_of(served, gate))
    client.until_event(session_id, "changes_applied")
    code, told = fix(asked_of(mine), client.bot.home)
    assert (code, told["status"]) == (0, "success")
    assert client.session(told["id"]) == {key: told[key] for key in told if key not in _LOCAL}
    for event in told["events"]:
        event["data"] = {key: value for key, value in event["data"].items() if key not in _LOCAL}
    assert client.session(told["id"], "/events") == told["events"]
    other = {**asked_of(served), "agents": [agent(put("note", "n\n"))]}
    process = start_fix(other, client.bot.home, "--json")
    client.until(lambda: session_id in client.ask("GET", "/api/sessions")[1][0].get("waitingFor", ""))
    (served / "go").touch()
    assert client.ended(session_id)["status"] == "success"
    why = f"Session {session_id} works in {served}. This session starts automatically when that one ends"
    code, told = ended(process, said=f"mendbot: waits: {why}\n")
    assert (code, told["status"]) == (0, "success")


def test_a_command_s_session_is_cancelled_over_http(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-009: the process that works on it ends what runs and puts the tree back, and nobody else."""
    tree = write(tmp_path / "tree", PLAIN)
    before = photograph(tree)
    stubborn = f"trap '' TERM INT; while :; do echo >>litter; sleep 0.02; done; sleep {LONG}"
    process = start_fix(asked_of(tree, stubborn), client.bot.home, "--json")
    client.until(lambda: (tree / "litter").exists())
    [session] = client.ask("GET", "/api/sessions")[1]
    assert client.ask("POST", f"/api/sessions/{session['id']}/cancel")[0] == 200
    code, told = ended(process)
    assert (code, told["status"], told["stopReason"]["reason"]) == (1, "cancelled", "cancelled")
    assert photograph(tree) == before


def test_a_server_that_is_stopped_goes_on_after_its_next_start(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-007: SIGTERM cuts a check short; it is run again, and the attempt is not lost."""
    tree = write(tmp_path / "tree", PLAIN)
    session_id = client.start(asked_of(tree, f"{BASE} || [ -e go ] || sleep {LONG}", IS_42))
    until(lambda: sleepers() == 1)
    assert client.bot.stop() == 0
    assert sleepers() == 0
    (tree / "go").touch()
    client.bot.start()
    told = client.ended(session_id)
    assert (told["status"], told["iteration"]) == ("success", 1), told
