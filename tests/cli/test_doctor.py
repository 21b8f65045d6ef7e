"""`mendbot doctor`: each diagnosis in lines or as JSON, and exit code 1 for a problem."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli import main


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("APP_ID", "WEBHOOK_SECRET", "PRIVATE_KEY", "PRIVATE_KEY_PATH", "PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MENDBOT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MENDBOT_SANDBOX", "none")


def test_a_machine_with_problems_is_exit_code_1_and_each_has_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    problems = [each for each in document["checks"] if each["status"] == "problem"]
    assert {"app_id", "webhook_secret", "private_key"} <= {each["name"] for each in problems}
    assert all(each["remedy"] and each["message"] for each in problems)


@pytest.mark.parametrize(("language", "word"), [("en", "remedy:"), ("ko", "해결 방법:")])
def test_lines_are_in_the_language_of_the_terminal(
    language: str, word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MENDBOT_LANGUAGE", language)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert word in out and "APP_ID" in out
