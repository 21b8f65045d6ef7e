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
    [
        ("calude", "did you mean `claude`?"),
        ("nosuch", "this version knows claude, "),
        ("fixers", "`fixers` is no coding agent that can be checked"),
        ("llm:openai", "write it as llm:PROVIDER:MODEL"),
    ],
)
def test_another_name_is_bad_input(name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "check", name]) == 2
    assert message in capsys.readouterr().err


def test_a_model_and_a_command_are_checked_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """REQ-RUN-008."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MENDBOT_AGENT_COMMAND"):
        monkeypatch.delenv(name, raising=False)
    assert main(["agent", "check", "llm:openai:gpt-5"]) == 1
    assert "key: failed" in capsys.readouterr().out
    assert main(["agent", "check", "command"]) == 1
    assert "program: failed" in capsys.readouterr().out
