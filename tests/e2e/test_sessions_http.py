"""Sessions over HTTP on a real server, in small real projects (spec D, contract *HTTP* and *Session*)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.e2e.conftest import SECRET
from tests.e2e.server import Server
from tests.e2e.session_faces import TOKEN, Client, sleepers, until
from tests.e2e.session_projects import (
    IS_42,
    LONG,
    PLAIN,
    PYTHON,
    SITUATION_NAMES,
    SITUATIONS,
    Doc,
    Situation,
    agent,
    assert_told,
    diff,
    of_type,
    photograph,
    put,
    write,
)

RIGHT = agent(put("answer.txt", "42\n"))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One server for the whole module; sessions may work below the directory that pytest gives its tests."""
    root = tmp_path_factory.mktemp("server")
    with StandIn(root / "github", webhook_url=None, webhook_secret=SECRET) as github:
        roots = {"MENDBOT_WORKSPACE_ROOTS": str(root.parent), "MENDBOT_ADMIN_TOKEN": TOKEN}
        bot = Server(github, root, **roots)
        try:
            yield Client(bot.start())
            assert "Traceback" not in bot.tail(10**7)
        finally:
            bot.kill()


@pytest.mark.parametrize("situation", SITUATIONS, ids=SITUATION_NAMES)
def test_the_situations_of_the_seed(client: Client, tmp_path: Path, situation: Situation) -> None:
    """REQ-RUN-003, REQ-RUN-004, REQ-RUN-005, REQ-RUN-006, REQ-RUN-007, REQ-RUN-009: the seed's section 10 over HTTP."""
    tree = write(tmp_path / "tree", situation.files, commit=situation.commit)
    before = photograph(tree)
    told = client.ended(client.start(situation.asked(tree)))
    assert_told(told, situation, tree, before)


def asked_of(tree: Path, spec: str = RIGHT, **more: object) -> Doc:
    return {"repo": str(tree), "task": "The answer is 42.", "validationCommands": [IS_42], "agents": [spec], **more}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"validationCommands": None}, "testCommand"),
        ({"validationCommands": [" "], "testCommand": ""}, "testCommand"),
        ({"repo": "/usr/share"}, "repo"),
        ({"repo": "TREE/none"}, "repo"),
        ({"repo": "TREE/README"}, "repo"),
        ({"repo": "TREE/../../../../../usr"}, "repo"),
        ({"repo": "TREE/link"}, "repo"),
        ({"repo": "./tree"}, "repo"),
        ({"agents": ["gpt"]}, "agents"),
        ({"agents": ["command:sh -c 'open"]}, "agents"),
        ({"maxAttempts": 0}, "maxAttempts"),
        ({"task": " "}, "task"),
        ({"filePaths": ["/etc/passwd"]}, "filePaths"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value)[:50],
)
def test_what_cannot_be_served_is_422_with_the_field(client: Client, tmp_path: Path, wrong: Doc, field: str) -> None:
    """REQ-RUN-001: a request says which field is wrong and how to fix it, and nothing is begun."""
    tree = write(tmp_path / "tree", PLAIN)
    (tree / "link").symlink_to("/usr")
    asked = {**asked_of(tree), **wrong}
    before = client.ask("GET", "/api/sessions")
    status, told = client.ask("POST", "/api/sessions", {**asked, "repo": asked["repo"].replace("TREE", str(tree))})
    assert status == 422
    assert [problem["field"] for problem in told["problems"]] == [field]
    assert told["problems"][0]["message"]
    assert client.ask("GET", "/api/sessions") == before


def test_names_in_snake_case_are_taken_and_answers_are_in_camel_case(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-001: on the wire camelCase; snake_case accepted too."""
    tree = write(tmp_path / "tree", PLAIN)
    asked = {"repo": str(tree), "task": "42", "file_paths": ["answer.txt"], "test_command": IS_42, "max_attempts": 1}
    told = client.ended(client.start({**asked, "agents": [RIGHT]}))
    assert (told["status"], told["maxAttempts"], told["changedPaths"]) == ("success", 1, ["answer.txt"])
    plan = next(artifact for artifact in told["artifacts"] if artifact["phase"] == "planning")
    assert plan["files"] == ["answer.txt"]


TASK = """\
`add` subtracts in calc.py

It should add its two numbers, as the `README` says.

- [ ] `add(2, 3)` is 5
- [ ] nothing else changes
"""


def test_the_artifacts_are_useful_without_a_model(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-002, REQ-RUN-006: plan, architecture and design from the task's text and the repository, and one artifact
    of each attempt's implementation and validation, all kept."""
    tree = write(tmp_path / "tree", PYTHON)
    agents = [agent(put("calc.py", PYTHON["calc.py"] + "\n"), diff("calc.py", "    return a - b", "    return a + b"))]
    told = client.ended(client.start(asked_of(tree, task=TASK, validationCommands=["grep + calc.py"], agents=agents)))
    assert told["status"] == "success", told
    plain = ["planning", "architecture", "design"]
    turns = (f"{phase}.{turn}" for turn in (1, 2) for phase in ("implementation", "validation"))
    names = ["certificate", *plain, *turns, "proof.2"]
    left = {artifact["id"].removeprefix(f"{told['id']}."): artifact for artifact in told["artifacts"]}
    assert set(left) == set(names)
    last = dict(zip(plain, plain, strict=True)) | {"implementation": "implementation.2", "validation": "validation.2"}
    assert told["artifactRefs"] == {phase: f"{told['id']}.{name}" for phase, name in last.items()}
    plan, architecture, design = (left[name] for name in plain)
    assert plan["goals"] == ["`add` subtracts in calc.py", "It should add its two numbers, as the `README` says."]
    assert plan["doneCriteria"] == ["`add(2, 3)` is 5", "nothing else changes"]
    assert (plan["files"], plan["symbols"][0]) == (["calc.py"], "add")
    [component] = architecture["components"]
    assert (component["path"], component["defines"], component["tests"]) == ("calc.py", ["add"], ["test_calc.py"])
    assert design["changes"] == [{"path": "calc.py", "symbols": ["add"]}]
    assert design["tests"] == ["test_calc.py"]
    assert "+    return a + b" in left["implementation.2"]["patch"]
    for artifact in told["artifacts"]:
        assert client.session(told["id"], f"/artifacts/{artifact['id']}") == artifact
        assert artifact["sessionId"] == told["id"]
    assert "+    return a + b" in client.session(told["id"], "/logs/attempt-2.diff")


def test_events_are_streamed_as_they_happen_and_resumed(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-007: a stream tells what is stored; one that is resumed with Last-Event-ID tells the rest."""
    tree = write(tmp_path / "tree", PLAIN)
    session_id = client.start(asked_of(tree))
    streamed = list(client.stream(session_id))
    assert streamed[-1]["type"] == "session_finished"
    assert streamed == client.session(session_id, "/events")
    for place in (0, 3, len(streamed) - 2):
        assert list(client.stream(session_id, after=streamed[place]["id"])) == streamed[place + 1 :]
    last = {"Accept": "text/event-stream", "Last-Event-ID": str(streamed[-1]["id"])}
    assert client.ask("GET", f"/api/sessions/{session_id}/events", None, **last)[0] == 204


def test_cancelled_while_a_command_runs(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-002: cancelled within seconds, every process of it gone, the tree as it was, the rest skipped."""
    tree = write(tmp_path / "tree", PLAIN)
    before = photograph(tree)
    stubborn = f"trap '' TERM INT; echo >litter; setsid sleep {LONG} & sleep {LONG}"
    session_id = client.start(asked_of(tree, validationCommands=[stubborn]))
    until(lambda: sleepers() == 2)
    assert client.ask("POST", f"/api/sessions/{session_id}/cancel")[0] == 200
    told = client.ended(session_id)
    assert (told["status"], told["stopReason"]["reason"]) == ("cancelled", "cancelled")
    assert sleepers() == 0
    assert photograph(tree) == before
    assert [event["phase"] for event in of_type(told, "phase_skipped")] == ["review", "packaging"]
    again = client.ask("POST", f"/api/sessions/{session_id}/cancel")
    assert (again[0], again[1]["status"]) == (200, "cancelled")


def test_a_second_session_in_one_tree_waits_and_says_for_whom(client: Client, tmp_path: Path) -> None:
    """REQ-RUN-002: it is queued until the first has ended, and works on what that has left."""
    tree = write(tmp_path / "tree", {**PLAIN, "sub/file": "x\n"})
    gate = "grep -q 42 answer.txt || until [ -e go ]; do sleep 0.05; done"
    first = client.start(asked_of(tree, validationCommands=[gate]))
    client.until_event(first, "validation_command_started")
    below = agent(put("file", "y\n"))
    waiting = [
        client.start(asked_of(tree, agent(put("note", "n\n")))),
        client.start(asked_of(tree / "sub", below, validationCommands=["grep y file"])),
    ]
    for session_id in waiting:
        client.until_session(session_id, lambda session: first in session.get("waitingFor", ""))
        assert client.session(session_id)["status"] == "queued"
        assert client.session(session_id, "/events") == []
    (tree / "go").touch()
    for session_id in (first, *waiting):
        told = client.ended(session_id)
        assert told["status"] == "success", told
        assert "waitingFor" not in told
    assert {name: (tree / name).read_text() for name in ("answer.txt", "note", "sub/file")} == {
        "answer.txt": "42\n",
        "note": "n\n",
        "sub/file": "y\n",
    }
