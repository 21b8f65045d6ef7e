"""`mendbot agent check`: lines or one JSON document, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli import main


@pytest.fixture(autouse=True)
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("MENDBOT_SANDBOX", "none")


def test_what_is_missing_is_said_with_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "check", "codex"]) == 1
    assert capsys.readouterr().out == (
        "program: failed: `codex` was not found on PATH; "
        "install it with `npm install -g --prefix ~/.local @openai/codex`\n"
    )


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "check", "codex", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["agent"], found["passed"], found["usage"]) == ("codex", False, None)
    assert [step["step"] for step in found["steps"]] == ["program"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("calude", "did you mean `claude`?"), ("fixers", "`fixers` is no coding agent that can be checked")],
)
def test_another_name_is_bad_input(name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "check", name]) == 2
    assert message in capsys.readouterr().err
