"""The coding agents that Mendbot knows by name: how each runs without a person, what it may receive and reach.

The flags are those of the versions in `docs/agents.md`; `make agents` runs the real programs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bot.agent.hook_install import registrations
from bot.agent.program_output import (
    ReadOutput,
    read_aider,
    read_claude,
    read_codex,
    read_gemini,
    read_opencode,
)

Hooks = Literal["", "claude", "codex", "qwen"]
URL = "{url}"
HOOKS = "{hooks}"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key with which a program may work, and the API that it is for.

    `base_url` is the variable by which the operator names another address of that API. `passed_as` is the program's own
    name of the key where it differs. `arguments` and `variables` tell the program the address `{url}`, where the
    variable alone does not."""

    variable: str
    host: str
    base_url: str = ""
    passed_as: str = ""
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """How a coding agent is run.

    `arguments` follow the program, which reads the prompt on stdin. The first of `keys` that is set is passed on, and
    all of `variables` that are. `env` is always set. `settings` are the repository's files that the program would obey;
    it does not see them. `own_settings` are its settings in a run, beside the hooks. `install` is a command that
    installs the program."""

    program: str
    install: str
    arguments: tuple[str, ...]
    keys: tuple[ApiKey, ...]
    read: ReadOutput
    variables: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    own_settings: Mapping[str, Any] = field(default_factory=dict)
    hooks: Hooks = ""


def _opencode_url(provider: str, path: str) -> Mapping[str, str]:
    configuration = {"provider": {provider: {"options": {"baseURL": f"{URL}{path}"}}}}
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(configuration)}


_ANTHROPIC = ApiKey("ANTHROPIC_API_KEY", "api.anthropic.com", "ANTHROPIC_BASE_URL")
_OPENAI = ApiKey("OPENAI_API_KEY", "api.openai.com", "OPENAI_BASE_URL")
_GEMINI = ApiKey("GEMINI_API_KEY", "generativelanguage.googleapis.com", "GOOGLE_GEMINI_BASE_URL")
_CODEX_URL = ("-c", f'openai_base_url="{URL}"')
_QUIET = {"privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}
_ENV_FILES = (".env", ".env.local")
PROFILES: Mapping[str, AgentProfile] = {
    "claude": AgentProfile(
        program="claude",
        install="npm install -g @anthropic-ai/claude-code",
        arguments=(
            *("-p", "--output-format", "json", "--settings", "{settings}", "--setting-sources", "user"),
            *("--strict-mcp-config", "--permission-mode", "acceptEdits"),
            "--allowedTools=Bash,Edit,Write,Read,Glob,Grep",
        ),
        keys=(
            _ANTHROPIC,
            ApiKey("ANTHROPIC_AUTH_TOKEN", "api.anthropic.com", "ANTHROPIC_BASE_URL"),
            ApiKey("CLAUDE_CODE_OAUTH_TOKEN", "api.anthropic.com"),
        ),
        read=read_claude,
        variables=("ANTHROPIC_MODEL",),
        env={
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "4",
            "DISABLE_AUTOUPDATER": "1",
        },
        settings=(".claude", ".mcp.json"),
        hooks="claude",
    ),
    "codex": AgentProfile(
        program="codex",
        install="npm install -g @openai/codex",
        arguments=(
            *("exec", "--json", "--color", "never", "--skip-git-repo-check", "--ephemeral", "--ignore-user-config"),
            *("--ignore-rules", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"),
            *("-c", f"hooks={HOOKS}"),
        ),
        keys=(
            ApiKey("CODEX_API_KEY", "api.openai.com", "OPENAI_BASE_URL", arguments=_CODEX_URL),
            ApiKey("OPENAI_API_KEY", "api.openai.com", "OPENAI_BASE_URL", "CODEX_API_KEY", _CODEX_URL),
        ),
        read=read_codex,
        settings=(".codex", ".agents"),
        hooks="codex",
    ),
    "gemini": AgentProfile(
        program="gemini",
        install="npm install -g @google/gemini-cli",
        arguments=("--output-format", "json", "--approval-mode", "yolo", "--skip-trust"),
        keys=(_GEMINI,),
        read=read_gemini,
        variables=("GEMINI_MODEL",),
        env={"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "{settings}", "GEMINI_CLI_NO_RELAUNCH": "true"},
        settings=(".gemini", ".agents", *_ENV_FILES),
        own_settings={"security": {"auth": {"selectedType": "gemini-api-key"}}, **_QUIET},
    ),
    "opencode": AgentProfile(
        program="opencode",
        install="npm install -g opencode-ai",
        arguments=("run", "--format", "json", "--auto"),
        keys=(
            ApiKey(
                *("ANTHROPIC_API_KEY", "api.anthropic.com", "ANTHROPIC_BASE_URL"),
                variables=_opencode_url("anthropic", "/v1"),
            ),
            ApiKey(*("OPENAI_API_KEY", "api.openai.com", "OPENAI_BASE_URL"), variables=_opencode_url("openai", "")),
            ApiKey("OPENROUTER_API_KEY", "openrouter.ai"),
        ),
        read=read_opencode,
        env={
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_CLAUDE_CODE": "1",
            "OPENCODE_PURE": "1",
        },
        settings=(".opencode", "opencode.json", "opencode.jsonc", ".agents", *_ENV_FILES),
    ),
    "qwen": AgentProfile(
        program="qwen",
        install="npm install -g @qwen-code/qwen-code",
        arguments=("--output-format", "json", "--approval-mode", "yolo", "--auth-type", "openai"),
        keys=(_OPENAI,),
        read=read_claude,
        variables=("OPENAI_MODEL",),
        env={"QWEN_CODE_SYSTEM_SETTINGS_PATH": "{settings}", "QWEN_CODE_NO_RELAUNCH": "true"},
        settings=(".qwen", ".agents", *_ENV_FILES),
        own_settings=_QUIET,
        hooks="qwen",
    ),
    "aider": AgentProfile(
        program="aider",
        install="pipx install aider-chat",
        arguments=(
            *("--message-file", "/dev/stdin", "--yes-always", "--no-auto-commits", "--no-dirty-commits"),
            *("--no-gitignore", "--no-check-update", "--no-analytics", "--no-suggest-shell-commands", "--no-pretty"),
            *("--no-stream", "--no-detect-urls", "--no-show-model-warnings", "--map-tokens", "0"),
            *("--chat-history-file", "/dev/null", "--input-history-file", "/dev/null"),
        ),
        keys=(_ANTHROPIC, _OPENAI, _GEMINI, ApiKey("OPENROUTER_API_KEY", "openrouter.ai")),
        read=read_aider,
        variables=("AIDER_MODEL",),
        env={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        settings=(".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json", *_ENV_FILES),
    ),
}


def program_settings(profile: AgentProfile, trace: Path | None = None) -> Mapping[str, Any]:
    """The settings file of a run, with our hooks in the program's own form where it has hooks.

    Each call of a hook adds a line to the file `trace`, where one is given."""
    if not profile.hooks:
        return profile.own_settings
    form = _for_qwen if profile.hooks == "qwen" else dict
    return {**profile.own_settings, "hooks": {event: [form(group)] for event, group in _groups(trace).items()}}


def _groups(trace: Path | None) -> Mapping[str, Mapping[str, Any]]:
    groups = registrations()
    if trace is None:
        return groups
    note = f"echo called >> {shlex.quote(str(trace))}; "
    return {
        event: {**group, "hooks": [{**hook, "command": note + hook["command"]} for hook in group["hooks"]]}
        for event, group in groups.items()
    }


def _for_qwen(group: Mapping[str, Any]) -> dict[str, Any]:
    """qwen-code counts milliseconds and has tool names of its own."""
    matcher = "|".join(_QWEN_TOOLS.get(name, name) for name in group["matcher"].split("|"))
    return {"matcher": matcher, "hooks": [{**hook, "timeout": hook["timeout"] * 1000} for hook in group["hooks"]]}


_QWEN_TOOLS = {"Edit": "edit", "Write": "write_file", "Bash": "run_shell_command", "Task": "agent"}
_CODEX_EVENTS = ("PreToolUse", "PostToolUse")


def hooks_as_toml(trace: Path | None = None) -> str:
    """Our hooks as an inline TOML table, for `codex -c hooks=…`; `trace` as in `program_settings`."""
    wanted = {event: [group] for event, group in _groups(trace).items() if event in _CODEX_EVENTS}
    return _toml(wanted)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)
