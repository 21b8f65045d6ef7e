"""The coding agents that are known by name: the table is whole, and their hooks are in each program's own form."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from bot.agent.hook_install import registrations
from bot.agent.profiles import PROFILES, hooks_as_toml, program_settings
from bot.config import model_keys
from bot.repo_config.agents import PROFILE_NAMES


def test_each_name_has_its_profile() -> None:
    """REQ-RUN-008."""
    assert tuple(PROFILES) == PROFILE_NAMES


def test_every_profile_hides_the_settings_that_its_program_would_obey() -> None:
    """REQ-RUN-008."""
    assert all(profile.settings for profile in PROFILES.values())
    paths = [name for profile in PROFILES.values() for name in profile.settings]
    assert [name for name in paths if "/" in name or not name.lower().startswith((".", "opencode"))] == []


def test_the_value_of_each_key_is_masked_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in (key for profile in PROFILES.values() for key in profile.keys):
        monkeypatch.setenv(key.variable, "a-secret-of-the-operator")
        assert "a-secret-of-the-operator" in model_keys()
        monkeypatch.delenv(key.variable)


def test_hooks_are_written_as_each_program_reads_them() -> None:
    groups = registrations()
    assert program_settings(PROFILES["claude"])["hooks"]["PreToolUse"] == [groups["PreToolUse"]]
    (group,) = program_settings(PROFILES["qwen"])["hooks"]["PreToolUse"]
    assert group["matcher"] == "edit|write_file|run_shell_command|agent"
    assert group["hooks"][0]["timeout"] == groups["PreToolUse"]["hooks"][0]["timeout"] * 1000
    table = tomllib.loads(f"hooks = {hooks_as_toml()}")["hooks"]
    assert table == {event: [groups[event]] for event in ("PreToolUse", "PostToolUse")}
    assert "hooks" not in program_settings(PROFILES["gemini"])


def test_a_check_sees_that_a_hook_was_called(tmp_path: Path) -> None:
    (group,) = program_settings(PROFILES["claude"], tmp_path / "called")["hooks"]["PreToolUse"]
    assert group["hooks"][0]["command"].startswith(f"echo called >> {tmp_path}/called; ")
