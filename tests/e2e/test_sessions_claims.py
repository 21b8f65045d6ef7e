"""What a session claims: the checks pass is one thing, that they had shown a fault before is another."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.session_faces import fix, start_fix
from tests.e2e.session_projects import IS_42, PLAIN, agent, put, write
from tests.machine import PATIENCE_S

UNSHOWN = "the checks pass since attempt 1 of 3; the change is not proven\nproof: unproven;"


def test_checks_that_had_never_failed_show_no_fix(tmp_path: Path) -> None:
    asked = {"repo": str(write(tmp_path / "tree", PLAIN)), "task": "It crashes.", "validationCommands": ["true"]}
    process = start_fix({**asked, "agents": [agent(put("other.txt", "x\n"))]}, tmp_path / "home")
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert UNSHOWN in out
    assert "finished: success, but the change is not proven" in err


def test_a_check_that_failed_in_an_earlier_attempt_shows_one(tmp_path: Path) -> None:
    answers = agent(put("answer.txt", "40\n"), put("answer.txt", "42\n"))
    asked = {"repo": str(write(tmp_path / "tree", PLAIN)), "task": "It is wrong.", "validationCommands": [IS_42]}
    code, told = fix({**asked, "agents": [answers]}, tmp_path / "home")
    assert (code, told["status"], told["shown"]) == (0, "success", True)


def test_fixers_alone_fix_what_lint_shows_in_the_tree(tmp_path: Path) -> None:
    ugly = "import os\nprint( 1 )\n"
    files = {"ruff.toml": "", "a.py": ugly, "b.py": "print( 1 )\n", "README.md": "# x \n"}
    tree = write(tmp_path / "tree", files)
    asked = {"repo": str(tree), "task": "Make lint pass.", "validationCommands": ["ruff check ."], "agents": ["fixers"]}
    code, told = fix(asked, tmp_path / "home")
    assert (code, told["changedPaths"], told["shown"], told["iteration"]) == (0, ["a.py"], True, 1)
    assert (tree / "a.py").read_text() == "print( 1 )\n"
    assert (tree / "b.py").read_text() == "print( 1 )\n"


def test_fixers_on_passing_checks_have_nothing_to_offer(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"ruff.toml": "", "b.py": "print( 1 )\n"})
    asked = {"repo": str(tree), "task": "It crashes.", "validationCommands": ["ruff check ."], "agents": ["fixers"]}
    code, told = fix(asked, tmp_path / "home")
    assert (code, told["stopReason"]["reason"], "shown" in told) == (1, "nothing_to_offer", False)
    assert (tree / "b.py").read_text() == "print( 1 )\n"
