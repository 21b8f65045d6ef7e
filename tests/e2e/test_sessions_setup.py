"""Sessions in a tree that is not set up, and what is shown of a fix that works at the first try."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.session_faces import fix
from tests.e2e.session_projects import IS_42, PLAIN, agent, git, put, write
from tests.workflows.npm_projects import npm_files


def _project(path: Path, **more: str) -> Path:
    path.mkdir()
    for name, content in {**npm_files(), **more}.items():
        if content is not None:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    git(path, "init", "-q", "-b", "main")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "first")
    return path


def test_a_tree_that_is_not_set_up_is_set_up_in_place_and_stays_so_out_of_git_status(tmp_path: Path) -> None:
    tree = _project(tmp_path / "tree", **{".gitignore": "package-lock.json\n"})
    asked = {
        "repo": str(tree),
        "task": "The answer is wrong.",
        "testCommand": "npm test",
        "agents": [agent(put("answer.txt", "42\n"))],
    }
    code, told = fix(asked, tmp_path / "home")
    assert (code, told["status"], told["shown"]) == (0, "success", True)
    assert [event["type"] for event in told["events"]].count("setup_completed") == 1
    assert (tree / "node_modules" / "right" / "index.js").is_file()
    assert git(tree, "status", "--porcelain") == " M answer.txt\n"


def test_an_environment_that_is_there_is_never_touched(tmp_path: Path) -> None:
    tree = _project(tmp_path / "tree")
    own = tree / "node_modules" / "right"
    own.mkdir(parents=True)
    (own / "index.js").write_text('module.exports = "42\\n";\n')
    asked = {
        "repo": str(tree),
        "task": "The answer is wrong.",
        "testCommand": "npm test",
        "agents": [agent(put("answer.txt", "42\n"))],
    }
    code, told = fix(asked, tmp_path / "home")
    assert (code, told["status"]) == (0, "success")
    assert "setup_started" not in [event["type"] for event in told["events"]]


def test_a_setup_that_fails_leaves_nothing_that_the_next_session_would_take_for_one(tmp_path: Path) -> None:
    broken = json.loads(str(npm_files()["package.json"]))
    broken["dependencies"]["gone"] = "file:./packages/gone.tgz"
    tree = _project(tmp_path / "tree", **{"package.json": json.dumps(broken)})
    asked = {
        "repo": str(tree),
        "task": "The answer is wrong.",
        "testCommand": "npm test",
        "agents": [agent(put("answer.txt", "42\n"))],
    }
    code, told = fix(asked, tmp_path / "home")
    assert (code, told["stopReason"]["reason"]) == (1, "setup_failed")
    assert not (tree / "node_modules").exists()


def test_a_fix_at_the_first_try_is_shown_because_the_base_was_checked(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", PLAIN)
    asked = {"repo": str(tree), "task": "It is wrong.", "validationCommands": [IS_42]}
    code, told = fix({**asked, "agents": [agent(put("answer.txt", "42\n"))]}, tmp_path / "home")
    assert (code, told["status"], told["shown"], told["iteration"]) == (0, "success", True, 1)
