"""The coding agents that are known by name: the table is whole."""

from __future__ import annotations

import pytest

from bot.agent.profiles import PROFILES
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
