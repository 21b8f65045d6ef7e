"""`mendbot check --plan` names what a run would set up and check, and why; it runs nothing and writes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli import main
from tests.e2e.session_projects import photograph, write

FILES = {
    "package.json": json.dumps(
        {"scripts": {"test": "touch ran", "preinstall": "touch ran"}, "dependencies": {"a": "file:./a"}}
    ),
    "a/package.json": json.dumps({"name": "a", "version": "1.0.0"}),
}


def test_the_plan_is_printed_with_its_reasons_and_nothing_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = write(tmp_path / "tree", FILES)
    before = photograph(tree)
    assert main(["check", str(tree), "--plan"]) == 0
    out = capsys.readouterr().out
    assert "setup: `npm install" in out and "(package.json; with network)" in out
    assert "test: `npm test` (package.json)" in out
    assert "lint: no command; looked for " in out
    assert photograph(tree) == before


def test_the_plan_is_one_json_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = write(tmp_path / "tree", FILES)
    assert main(["check", str(tree), "--plan", "--json", "--check", "test"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {step["because"] for step in told["setup"]} == {"package.json"}
    assert [(one["check"], one["command"], one["because"]) for one in told["checks"]] == [
        ("test", "npm test", "package.json")
    ]


def test_a_tree_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert main(["check", str(tmp_path / "gone"), "--plan"]) == 2


def test_long_commands_are_shown_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = f"run-tests {' '.join(f'--only part-{number}' for number in range(50))}"
    policy = json.dumps({"checks": {"test": {"command": command}}, "setup": [f"prepare {command}"]})
    tree = write(tmp_path / "tree", {".github/mendbot.yml": policy}, commit=True)
    assert main(["check", str(tree), "--plan"]) == 0
    out = capsys.readouterr().out
    assert f"test: `{command}`" in out and f"setup: `prepare {command}`" in out
