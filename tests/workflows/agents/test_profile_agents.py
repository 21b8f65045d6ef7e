"""A coding agent known by name needs its program and its key, and receives nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.config import Settings
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english
from bot.workflows.agents.profile_agents import PreparedProfile, prepare_profile
from bot.workspace.sandbox.network_filter import AllowedHost


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """PATH holds the programs of two agents alone."""
    for name in ("claude", "codex", "opencode"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def prepared(name: str, environ: Mapping[str, str], **settings: bool) -> PreparedProfile:
    found = prepare_profile(name, Settings(**settings), environ)  # type: ignore[arg-type]
    assert isinstance(found, PreparedProfile), found
    return found


def problem(name: str, environ: Mapping[str, str]) -> str:
    found = prepare_profile(name, Settings(), environ)
    assert isinstance(found, Reason)
    return english(found)


def test_it_receives_its_own_key_and_reaches_its_own_api() -> None:
    """REQ-RUN-008."""
    environ = {"ANTHROPIC_API_KEY": "key", "OPENAI_API_KEY": "other", "ANTHROPIC_MODEL": "m", "PATH": "/x", "HOME": "/"}
    found = prepared("claude", environ)
    assert found.host == AllowedHost("api.anthropic.com")
    assert {name: value for name, value in found.env.items() if name in environ} == {
        "ANTHROPIC_API_KEY": "key",
        "ANTHROPIC_MODEL": "m",
    }


def test_another_address_of_the_api_is_the_one_that_is_reached() -> None:
    environ = {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1/"}
    found = prepared("codex", environ)
    assert found.host == AllowedHost("127.0.0.1", 9, private=True)
    assert found.argv[-2:] == ("-c", 'openai_base_url="http://127.0.0.1:9/v1"')
    assert found.env["CODEX_API_KEY"] == "key"
    assert "OPENAI_API_KEY" not in found.env


def test_an_address_may_be_told_in_a_variable() -> None:
    environ = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": "http://models.lan"}
    found = prepared("opencode", environ, allow_private_api=True)
    assert '"baseURL": "http://models.lan/v1"' in found.env["OPENCODE_CONFIG_CONTENT"]
    assert found.host == AllowedHost("models.lan", 80, private=True)


def test_what_is_missing_is_named_with_the_remedy() -> None:
    assert problem("gemini", {}) == (
        "`gemini` was not found on PATH; install it with `npm install -g --prefix ~/.local @google/gemini-cli`"
    )
    assert "set CODEX_API_KEY or OPENAI_API_KEY in Mendbot's environment" in problem("codex", {"OPENAI_API_KEY": ""})
    environ = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": "http://models.lan"}
    assert "MENDBOT_ALLOW_PRIVATE_API=1" in problem("claude", environ)
    without_scheme = problem("claude", {**environ, "ANTHROPIC_BASE_URL": "127.0.0.1:40115"})
    assert "`https://` or `http://` is missing" in without_scheme
    assert "MENDBOT_ALLOW_PRIVATE_API" not in without_scheme


def test_each_run_has_a_filter_of_its_own(tmp_path: Path) -> None:
    found = prepared("claude", {"ANTHROPIC_API_KEY": "key"})
    first, second = found.grant(tmp_path), found.grant(tmp_path)
    assert first.reach is not None
    assert first.reach.refused is not second.reach.refused  # type: ignore[union-attr]
    assert tmp_path / ".claude" in first.hidden


def test_a_model_is_chosen_by_a_flag_where_the_program_reads_no_variable() -> None:
    environ = {"OPENAI_API_KEY": "key", "CODEX_MODEL": "gpt-5", "OPENCODE_MODEL": "openai/gpt-5"}
    assert prepared("codex", environ).argv[-2:] == ("--model", "gpt-5")
    assert prepared("opencode", environ).argv[-2:] == ("--model", "openai/gpt-5")
    assert "--model" not in prepared("codex", {"OPENAI_API_KEY": "key"}).argv


def test_one_attempt_may_not_cost_more_than_a_day_where_the_program_has_a_limit() -> None:
    environ = {"ANTHROPIC_API_KEY": "key", "OPENAI_API_KEY": "key"}
    limited = prepare_profile("claude", Settings(model_day_cost=2.5), environ)
    assert isinstance(limited, PreparedProfile) and limited.argv[-2:] == ("--max-budget-usd", "2.5")
    free = prepare_profile("claude", Settings(model_day_cost=0), environ)
    assert isinstance(free, PreparedProfile) and "--max-budget-usd" not in free.argv
    assert "--max-budget-usd" not in prepared("codex", environ).argv
