"""Our hooks in the form of each coding agent that has hooks: its events, its tool names, its unit of time.

Claude Code and Codex show their model what a hook prints before a tool runs. The others show it with the tool's result
alone, so there the hook for past errors runs after the tool, next to the one that records failures."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from bot.agent import hook
from bot.agent.hook_install import registrations

HookForm = Literal["", "claude", "codex", "gemini", "opencode", "qwen"]
SHOWN_BEFORE: tuple[HookForm, ...] = ("claude", "codex")
"""The programs whose model reads, before a tool runs, what the hook prints."""
OPENCODE_PLUGIN = Path(__file__).with_name("opencode_plugin.js").as_uri()
_CODEX_EVENTS = ("PreToolUse", "PostToolUse")


def program_settings(form: HookForm, own: Mapping[str, Any], trace: Path | None = None) -> Mapping[str, Any]:
    """The program's `own` settings with our hooks, where it has hooks; `trace` as in `AgentProfile.run_settings`."""
    groups = _traced(registrations(), trace)
    if not form:
        return own
    if form in SHOWN_BEFORE:
        return {**own, "hooks": {event: [group] for event, group in groups.items()}}
    if form == "opencode":
        return {**own, "hooks": {"PostToolUse": _after_tools(groups, unit=1)}}
    after = _after_tools(groups, unit=1000)
    if form == "gemini":
        return {**own, "hooks": {"AfterTool": after}}
    return {**own, "hooks": {"PostToolUse": after, "PostToolUseFailure": after}}


def hooks_as_toml(trace: Path | None = None) -> str:
    """Our hooks as an inline TOML table, for `codex -c hooks=…`; `trace` as in `AgentProfile.run_settings`."""
    groups = _traced(registrations(), trace)
    return _toml({event: [groups[event]] for event in _CODEX_EVENTS})


def _traced(groups: Mapping[str, Mapping[str, Any]], trace: Path | None) -> Mapping[str, Mapping[str, Any]]:
    if trace is None:
        return groups
    note = f"echo called >> {shlex.quote(str(trace))}; "
    return {
        event: {**group, "hooks": [{**each, "command": note + each["command"]} for each in group["hooks"]]}
        for event, group in groups.items()
    }


def _after_tools(groups: Mapping[str, Mapping[str, Any]], unit: int) -> list[Mapping[str, Any]]:
    """One group for the end of a tool: a failure is recorded first, so that a known resolution is shown at once."""
    matcher = groups["PreToolUse"]["matcher"].split("|")
    others = [name for name, ours in hook.TOOLS.items() if ours in matcher]
    hooks = [*groups["PostToolUse"]["hooks"], *groups["PreToolUse"]["hooks"]]
    timed = [{**each, "timeout": each["timeout"] * unit} for each in hooks]
    return [{"matcher": "|".join((*matcher, *others)), "sequential": True, "hooks": timed}]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)
