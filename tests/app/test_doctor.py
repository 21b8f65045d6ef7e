"""The doctor names each problem of environment, machine, database and agents with its remedy, and changes nothing."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from bot.app.created_app import APP_FILE, AppFile
from bot.app.doctor import examine
from bot.config import Settings, load_settings
from bot.model.diagnosis import Diagnosis
from bot.reports.locale.reasons import english
from bot.workflows.agents.profile_agents import unavailable_profiles
from tests.app.created_apps import new_app

SECRET = "doctor-secret-0123456789-abcdefghi"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that does not exist yet; no other variable of a setting is set, and no sandbox is looked for."""
    for field in Settings.model_fields.values():
        monkeypatch.delenv(str(field.validation_alias), raising=False)
    monkeypatch.setenv("MENDBOT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MENDBOT_ALLOW_ROOT", "1")
    monkeypatch.setenv("MENDBOT_SANDBOX", "none")
    monkeypatch.setenv("MENDBOT_AGENTS", "fixers")
    return tmp_path / "home"


def diagnoses() -> dict[str, Diagnosis]:
    found = {each.name: each for each in examine()}
    assert [each.name for each in found.values() if each.status == "problem" and each.remedy is None] == []
    return found


def test_what_is_missing_is_a_problem_with_its_remedy(home: Path) -> None:
    found = diagnoses()
    problems = {name: english(each.remedy) for name, each in found.items() if each.status == "problem"}
    assert problems.keys() == {"webhook_secret", "app_id", "private_key"}
    assert "openssl rand" in problems["webhook_secret"] and ".pem" in problems["private_key"]
    assert found["app"].status == "warning", "GitHub cannot be asked without an App"
    assert all("/setup" in remedy for remedy in problems.values())
    assert "not set" in english(found["sign_in"].message) and "not set" in english(found["workspace_roots"].message)
    assert not home.exists(), "nothing is made"


def test_the_app_of_the_home_is_examined_and_a_file_that_others_can_read_is_a_problem(home: Path) -> None:
    home.mkdir()
    AppFile(home).write(new_app())
    found = diagnoses()
    names = (APP_FILE, "app_id", "private_key", "webhook_secret")
    assert [found[name].status for name in names] == ["ok"] * 4
    (home / APP_FILE).chmod(0o644)
    assert diagnoses()[APP_FILE].status == "problem"


def test_each_variable_is_judged_by_itself_and_no_secret_is_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("PORT", "many")
    monkeypatch.setenv("MENDBOT_WORKERS", "0")
    monkeypatch.setenv("MENDBOT_WORKES", "4")
    monkeypatch.setenv("MENDBOT_GITHUB_API_URL", "http://api.example.org")
    found = diagnoses()
    assert {name for name in ("PORT", "MENDBOT_WORKERS", "github_urls") if found[name].status == "problem"} == {
        *("PORT", "MENDBOT_WORKERS", "github_urls")
    }
    assert (found["WEBHOOK_SECRET"].status, found["webhook_secret"].status) == ("ok", "ok")
    assert "MENDBOT_WORKERS" in english(found["MENDBOT_WORKES"].remedy)
    assert SECRET not in "".join(each.model_dump_json() for each in found.values())


def test_a_foreign_home_and_a_damaged_database_are_problems(home: Path) -> None:
    home.mkdir()
    (home / "mendbot.db").write_bytes(b"no database" * 100)
    found = diagnoses()
    assert (found["home"].status, found["database"].status) == ("problem", "problem")
    assert (home / "mendbot.db").read_bytes() == b"no database" * 100
    (home / "mendbot.db").unlink()
    with sqlite3.connect(home / "mendbot.db") as database:
        database.execute("CREATE TABLE theirs (a)")
    assert diagnoses()["home"].status == "problem"


def test_an_agent_that_cannot_start_is_a_problem(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MENDBOT_AGENTS", "history,command")
    assert diagnoses()["command"].status == "warning"
    monkeypatch.setenv("MENDBOT_AGENT_COMMAND", "no-such-agent --print")
    assert diagnoses()["command"].status == "problem"
    monkeypatch.setenv("MENDBOT_AGENT_COMMAND", "sh -c true")
    assert diagnoses()["command"].status == "ok"


def test_a_coding_agent_without_program_or_key_is_a_problem(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REQ-RUN-008."""
    monkeypatch.setenv("MENDBOT_AGENTS", "fixers,codex,claude,opencode")
    monkeypatch.delenv("CODEX_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    for name in ("codex", "claude"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = diagnoses()
    assert {name: found[name].status for name in ("codex", "claude", "opencode")} == {
        "codex": "problem",
        "claude": "ok",
        "opencode": "problem",
    }
    assert "CODEX_API_KEY" in english(found["codex"].message)
    assert "npm install" in english(found["opencode"].message)
    assert SECRET not in found["claude"].model_dump_json()
    assert unavailable_profiles(load_settings()).keys() == {"codex", "opencode"}


def test_little_free_space_is_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.app.doctor.MIN_FREE_MB", 1 << 40)
    assert diagnoses()["disk"].status == "warning"


def test_a_budget_that_is_used_up_is_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """REQ-RUN-008."""
    assert "$0.00 of $25" in english(diagnoses()["budget"].message)
    for name in ("MENDBOT_MODEL_DAY_COST", "MENDBOT_MODEL_DAY_TOKENS"):
        with monkeypatch.context() as zero:
            zero.setenv(name, "0")
            found = diagnoses()["budget"]
        assert found.status == "warning" and "never asked" in english(found.message)
        assert "00:00" not in english(found.remedy)
