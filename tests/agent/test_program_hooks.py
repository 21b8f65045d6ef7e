"""Our hooks in the form of each coding agent."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bot.agent.hook_install import registrations
from bot.agent.profiles import PROFILES
from bot.agent.program_hooks import OPENCODE_PLUGIN, SHOWN_BEFORE, HookForm, hooks_as_toml, program_settings

GROUPS = registrations()
BEFORE, AFTER = (GROUPS[event]["hooks"][0] for event in ("PreToolUse", "PostToolUse"))


def test_claude_code_gets_its_own_form() -> None:
    """REQ-RUN-008."""
    assert program_settings("claude", {"a": 1}) == {"a": 1, "hooks": {event: [GROUPS[event]] for event in GROUPS}}


def test_codex_gets_what_it_knows_as_toml() -> None:
    """REQ-RUN-008."""
    table = tomllib.loads(f"hooks = {hooks_as_toml()}")["hooks"]
    assert table == {event: [GROUPS[event]] for event in ("PreToolUse", "PostToolUse")}


@pytest.mark.parametrize(
    ("form", "events", "unit", "tools"),
    [
        ("gemini", {"AfterTool"}, 1000, {"replace", "write_file", "run_shell_command"}),
        ("qwen", {"PostToolUse", "PostToolUseFailure"}, 1000, {"edit", "write_file", "run_shell_command"}),
        ("opencode", {"PostToolUse"}, 1, {"Edit", "Write", "Bash", "apply_patch"}),
    ],
)
def test_where_a_model_reads_it_with_the_result_both_hooks_run_after_the_tool(
    form: HookForm, events: set[str], unit: int, tools: set[str]
) -> None:
    """REQ-RUN-008: the failure is recorded before the hook looks for one."""
    hooks = program_settings(form, {})["hooks"]
    assert set(hooks) == events
    for (group,) in hooks.values():
        assert tools <= set(group["matcher"].split("|"))
        assert group["sequential"]
        assert [each["command"] for each in group["hooks"]] == [AFTER["command"], BEFORE["command"]]
        assert [each["timeout"] for each in group["hooks"]] == [AFTER["timeout"] * unit, BEFORE["timeout"] * unit]


def test_a_program_without_hooks_gets_its_own_settings_alone() -> None:
    assert program_settings("", {"a": 1}) == {"a": 1}
    assert [name for name, profile in PROFILES.items() if not profile.hooks] == ["aider"]


def test_opencode_loads_our_plugin_from_the_package() -> None:
    """REQ-RUN-008."""
    profile = PROFILES["opencode"]
    contents = [profile.env["OPENCODE_CONFIG_CONTENT"], *(c for key in profile.keys for c in key.variables.values())]
    assert len(contents) == 3
    assert all(json.loads(content)["plugin"] == [OPENCODE_PLUGIN] for content in contents)
    assert Path(urlsplit(OPENCODE_PLUGIN).path).is_file()


@pytest.mark.parametrize("form", [*SHOWN_BEFORE, "gemini", "qwen", "opencode"])
def test_a_check_sees_that_a_hook_was_called(form: HookForm, tmp_path: Path) -> None:
    hooks = program_settings(form, {}, tmp_path / "called")["hooks"]
    commands = [each["command"] for groups in hooks.values() for group in groups for each in group["hooks"]]
    assert commands and all(command.startswith(f"echo called >> {tmp_path}/called; ") for command in commands)
