"""The coding agents that Mendbot knows by name: how each runs without a person, what it may receive and reach.

The flags are those of the versions in `docs/agents.md`; `make agents` runs the real programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.agent.program_hooks import OPENCODE_PLUGIN, HookForm, program_settings
from bot.agent.program_output import (
    ReadOutput,
    read_aider,
    read_claude,
    read_codex,
    read_gemini,
    read_opencode,
)

URL = "{url}"
HOOKS = "{hooks}"
MAX_TURNS = 200
"""Answers of the model in one attempt, where the program can limit them: more are a loop."""


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
    all of `variables` that are. `model` is a variable and the flag for its value, where the program reads none.
    `cost_flag` limits what one attempt may cost, in US dollars.
    `env` is always set. `settings` are the repository's files that the program would follow; it does not see them.
    `own_settings` are its settings in a run, beside the hooks. `install` is a command that installs the program."""

    program: str
    install: str
    arguments: tuple[str, ...]
    keys: tuple[ApiKey, ...]
    read: ReadOutput
    variables: tuple[str, ...] = ()
    model: tuple[str, str] | None = None
    cost_flag: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    own_settings: Mapping[str, Any] = field(default_factory=dict)
    hooks: HookForm = ""

    def run_settings(self, trace: Path | None = None) -> Mapping[str, Any]:
        """The settings file of a run. Each call of a hook adds a line to the file `trace`, where one is given."""
        return program_settings(self.hooks, self.own_settings, trace)


def _opencode(**configuration: Any) -> Mapping[str, str]:
    return {"OPENCODE_CONFIG_CONTENT": json.dumps({"plugin": [OPENCODE_PLUGIN], **configuration})}


def _opencode_url(provider: str, path: str) -> Mapping[str, str]:
    return _opencode(provider={provider: {"options": {"baseURL": f"{URL}{path}"}}})


_ANTHROPIC = ApiKey("ANTHROPIC_API_KEY", "api.anthropic.com", "ANTHROPIC_BASE_URL")
_OPENAI = ApiKey("OPENAI_API_KEY", "api.openai.com", "OPENAI_BASE_URL")
_GEMINI = ApiKey("GEMINI_API_KEY", "generativelanguage.googleapis.com", "GOOGLE_GEMINI_BASE_URL")
_CODEX_URL = ("-c", f'openai_base_url="{URL}"')
_QUIET = {"privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}
_ENV_FILES = (".env", ".env.local")
# aider would write a name into the repository's .git/config, and ends where it cannot
_GIT_USER = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "user.name",
    "GIT_CONFIG_VALUE_0": "Mendbot",
    "GIT_CONFIG_KEY_1": "user.email",
    "GIT_CONFIG_VALUE_1": "mendbot@localhost",
}
PROFILES: Mapping[str, AgentProfile] = {
    "claude": AgentProfile(
        program="claude",
        install="npm install -g --prefix ~/.local @anthropic-ai/claude-code",
        arguments=(
            *("-p", "--output-format", "json", "--settings", "{settings}", "--setting-sources", "user"),
            *("--strict-mcp-config", "--permission-mode", "acceptEdits"),
            *("--allowedTools=Bash,Edit,Write,Read,Glob,Grep", "--max-turns", str(MAX_TURNS)),
        ),
        keys=(
            _ANTHROPIC,
            ApiKey("ANTHROPIC_AUTH_TOKEN", "api.anthropic.com", "ANTHROPIC_BASE_URL"),
            ApiKey("CLAUDE_CODE_OAUTH_TOKEN", "api.anthropic.com"),
        ),
        read=read_claude,
        variables=("ANTHROPIC_MODEL",),
        cost_flag="--max-budget-usd",
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
        install="npm install -g --prefix ~/.local @openai/codex",
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
        model=("CODEX_MODEL", "--model"),
        settings=(".codex", ".agents"),
        hooks="codex",
    ),
    "gemini": AgentProfile(
        program="gemini",
        install="npm install -g --prefix ~/.local @google/gemini-cli",
        arguments=("--output-format", "json", "--approval-mode", "yolo", "--skip-trust"),
        keys=(_GEMINI,),
        read=read_gemini,
        variables=("GEMINI_MODEL",),
        env={"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "{settings}", "GEMINI_CLI_NO_RELAUNCH": "true"},
        settings=(".gemini", ".agents", *_ENV_FILES),
        own_settings={
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "model": {"maxSessionTurns": MAX_TURNS},
            **_QUIET,
        },
        hooks="gemini",
    ),
    "opencode": AgentProfile(
        program="opencode",
        install="npm install -g --prefix ~/.local opencode-ai",
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
        model=("OPENCODE_MODEL", "--model"),
        env={
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_CLAUDE_CODE": "1",
            **_opencode(),
        },
        settings=(".opencode", "opencode.json", "opencode.jsonc", ".agents", *_ENV_FILES),
        hooks="opencode",
    ),
    "qwen": AgentProfile(
        program="qwen",
        install="npm install -g --prefix ~/.local @qwen-code/qwen-code",
        arguments=(
            *("--output-format", "json", "--approval-mode", "yolo", "--auth-type", "openai"),
            *("--max-session-turns", str(MAX_TURNS)),
        ),
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
        keys=(
            _ANTHROPIC,
            _OPENAI,
            replace(_GEMINI, variables={"GEMINI_API_BASE": f"{URL}/v1beta"}),
            ApiKey("OPENROUTER_API_KEY", "openrouter.ai"),
        ),
        read=read_aider,
        variables=("AIDER_MODEL",),
        env={"LITELLM_LOCAL_MODEL_COST_MAP": "True", **_GIT_USER},
        settings=(".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json", *_ENV_FILES),
    ),
}
