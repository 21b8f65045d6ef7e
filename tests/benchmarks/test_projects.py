"""The benchmark of real projects, on a clone that is made here: a bug whose fix is known, four agents, one table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import projects
from benchmarks.project_case import cases, git

_WRONG = "def double(number):\n    return number + number + 1\n"
_RIGHT = "def double(number):\n    return number + number\n"
_TESTS = "from twice import double\n\n\ndef test_nothing_doubled():\n    assert double(0) in (0, 1)\n"
_SHOWN = f"{_TESTS}\n\ndef test_double():\n    assert double(2) == 4\n"


def _clone(where: Path) -> Path:
    git(where.parent, "init", "-q", "-b", "main", str(where))
    for subject, files in (
        ("Begin", {"twice.py": _WRONG, "tests/test_twice.py": _TESTS, "README.md": "Twice\n"}),
        ("Fix double", {"twice.py": _RIGHT, "tests/test_twice.py": _SHOWN}),
        ("Say more", {"README.md": "Twice, and no more\n"}),
    ):
        for name, text in files.items():
            (where / name).parent.mkdir(exist_ok=True)
            (where / name).write_text(text)
        git(where, "add", "-A")
        git(where, "commit", "-q", "-m", subject)
    return where


def test_a_known_fix_is_found_and_every_agent_gets_what_it_deserves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert projects.main([str(_clone(tmp_path / "twice")), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    outcomes = found["outcomes"]
    assert (found["bug"], found["planted"], found["green"]) == ("Fix double", False, True)
    assert [outcomes[part]["fixed"] for part in ("nothing", "deleted", "damaged", "right")] == [
        False,
        False,
        True,
        True,
    ]
    assert outcomes["right"]["attempts"] == 2


def test_a_clone_without_a_fix_gets_a_planted_bug(tmp_path: Path) -> None:
    clone = tmp_path / "plain"
    git(tmp_path, "init", "-q", "-b", "main", str(clone))
    (clone / "limit.py").write_text("def within(number):\n    return number < 3\n")
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "Begin")
    case = next(cases(clone))
    assert (case.planted, case.wrong) == (True, {"limit.py": b"def within(number):\n    return number >= 3\n"})
    assert case.right == {"limit.py": b"def within(number):\n    return number < 3\n"}
