"""Every setting, with its one source and one default: the operator's `Settings` from the environment, and the `Policy`
of a repository's `.github/mendbot.yml` from `bot.repo_config`, under the same names."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_core import ErrorDetails

from bot.errors import ConfigError
from bot.model import Language, PullRequestsMode, SandboxMode, ToolsMode
from bot.model.reasons import Reason, make_reason, quoted
from bot.repo_config.configuration_keys import (
    CHECK_TIMEOUTS_S,
    POLICY_PATH,
    VERB_NAMES,
    CheckPolicy,
    ChecksPolicy,
    InvalidValue,
    Policy,
    PolicyProblem,
    PullRequestsPolicy,
    StopPolicy,
)
from bot.repo_config.json_schema import policy_schema
from bot.repo_config.parse import parse_policy, parse_policy_file

__all__ = [
    "CHECK_MEMORY_MB",
    "CHECK_TIMEOUTS_S",
    "POLICY_PATH",
    "VERB_NAMES",
    "CheckPolicy",
    "ChecksPolicy",
    "Policy",
    "PolicyProblem",
    "PullRequestsPolicy",
    "Settings",
    "StopPolicy",
    "load_settings",
    "model_keys",
    "parse_policy",
    "parse_policy_file",
    "policy_schema",
]


CHECK_MEMORY_MB = 6144
_PUBLIC_URL = re.compile(r"(https?://[A-Za-z0-9.:\[\]-]+)/?")


def _default_home() -> Path:
    data = os.environ.get("XDG_DATA_HOME", "")
    # a relative path is to be ignored (XDG Base Directory Specification, *Environment variables*)
    return (Path(data) if data.startswith("/") else Path.home() / ".local" / "share") / "mendbot"


def _setting(name: str, default: Any, *, ge: float | None = None) -> Any:
    return Field(default, validation_alias=name, ge=ge)


class Settings(BaseModel):
    """The operator's settings. Programs build them by field name; `load_settings` reads the contract's variables."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    app_id: str | None = _setting("APP_ID", None)  # the GitHub App's id
    private_key: SecretStr | None = _setting("PRIVATE_KEY", None)  # the App's private key, PEM
    private_key_path: Path | None = _setting("PRIVATE_KEY_PATH", None)  # a file with that key
    webhook_secret: SecretStr | None = _setting("WEBHOOK_SECRET", None)  # signs deliveries; 32+ characters
    # the App's client id and secret, with which people sign in by their GitHub account
    github_client_id: str | None = _setting("GITHUB_CLIENT_ID", None)
    github_client_secret: SecretStr | None = _setting("GITHUB_CLIENT_SECRET", None)
    # a channel of smee.io, or of a server like it, whose webhooks `serve` takes
    webhook_proxy_url: str | None = _setting("WEBHOOK_PROXY_URL", None)
    port: int = _setting("PORT", 3000)  # where `serve` listens
    log_level: str = _setting("LOG_LEVEL", "info")  # debug, info, warning or error
    log_format: str = _setting("LOG_FORMAT", "console")  # console or json
    # database, mirrors, worktrees, artifacts
    home: Path = Field(default_factory=_default_home, validation_alias="MENDBOT_HOME")
    database_url: str | None = _setting("MENDBOT_DATABASE_URL", None)  # SQLite in the home by default
    github_api_url: str = _setting("MENDBOT_GITHUB_API_URL", "https://api.github.com")  # the REST API
    github_url: str = _setting("MENDBOT_GITHUB_URL", "https://github.com")  # pages and git over HTTP
    admin_token: SecretStr | None = _setting("MENDBOT_ADMIN_TOKEN", None)  # opens the HTTP routes and the pages
    public_url: str | None = _setting("MENDBOT_PUBLIC_URL", None)  # where people reach the pages
    max_worktrees: int = _setting("MENDBOT_MAX_WORKTREES", 3, ge=1)  # worktrees at once per repository
    # wait this long for more labels before grouping
    quiet_seconds: float = _setting("MENDBOT_QUIET_SECONDS", 10.0, ge=0)
    # agent specs, comma-separated, tried in order
    agents: tuple[str, ...] = _setting("MENDBOT_AGENTS", ("fixers", "history", "command"))
    # the command agent's argv: a JSON array or a shell-quoted line
    agent_command: tuple[str, ...] = _setting("MENDBOT_AGENT_COMMAND", ())
    # names of variables that the command agent alone receives
    agent_env: tuple[str, ...] = _setting("MENDBOT_AGENT_ENV", ())
    agent_binds: tuple[Path, ...] = _setting("MENDBOT_AGENT_BINDS", ())  # paths that the command agent alone may read
    model_run_tokens: int = _setting("MENDBOT_MODEL_RUN_TOKENS", 400_000, ge=1)  # tokens of models in one run
    # tokens of models and agents without a known price in one day
    model_day_tokens: int = _setting("MENDBOT_MODEL_DAY_TOKENS", 20_000_000, ge=0)
    model_run_cost: float = _setting("MENDBOT_MODEL_RUN_COST", 5.0, ge=0)  # US dollars of models in one run
    model_day_cost: float = _setting("MENDBOT_MODEL_DAY_COST", 25.0, ge=0)  # US dollars of models and agents in one day
    # the same for one repository
    model_repo_day_tokens: int | None = _setting("MENDBOT_MODEL_REPO_DAY_TOKENS", None, ge=0)
    model_repo_day_cost: float | None = _setting("MENDBOT_MODEL_REPO_DAY_COST", None, ge=0)
    agent_network: bool = _setting("MENDBOT_AGENT_NETWORK", False)  # give the command agent the network
    sandbox: SandboxMode = _setting("MENDBOT_SANDBOX", "auto")  # auto, bubblewrap or none
    # directories with a bin/ that checks may use, read-only, beside /usr
    toolchains: tuple[Path, ...] = _setting("MENDBOT_TOOLCHAINS", ())
    # auto or off: whether pytest, pnpm, uv and the like are fetched where missing
    tools: ToolsMode = _setting("MENDBOT_TOOLS", "auto")
    # MB of memory for all processes of one check, set-up step or agent together
    check_memory_mb: int = _setting("MENDBOT_CHECK_MEMORY_MB", CHECK_MEMORY_MB, ge=64)
    allow_root: bool = _setting("MENDBOT_ALLOW_ROOT", False)  # let `serve` run as uid 0
    # plain HTTP or private addresses for the API
    allow_private_api: bool = _setting("MENDBOT_ALLOW_PRIVATE_API", False)
    # where local sessions over HTTP may work
    workspace_roots: tuple[Path, ...] = _setting("MENDBOT_WORKSPACE_ROOTS", ())
    language: Language = _setting("MENDBOT_LANGUAGE", "en")  # en or ko
    # configured or all: whether pull requests of newly installed repositories are checked without a configuration
    pull_requests: PullRequestsMode = _setting("MENDBOT_PULL_REQUESTS", "configured")
    # pause between two writes to GitHub, as GitHub asks
    write_spacing_s: float = _setting("MENDBOT_WRITE_SPACING_SECONDS", 1.0, ge=0)
    workers: int = _setting("MENDBOT_WORKERS", 4, ge=1)  # runs worked on at once

    @field_validator("agents", "agent_env", mode="before")
    @classmethod
    def _comma_separated(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("agent_binds", "toolchains", "workspace_roots", mode="before")
    @classmethod
    def _paths(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(Path(part).expanduser() for part in value.split(os.pathsep) if part)
        return value

    @field_validator("public_url")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        match = _PUBLIC_URL.fullmatch(value.strip())
        if match is None:
            raise InvalidValue(make_reason("settings.no_web_address"))
        return match[1]

    @field_validator("agent_command", mode="before")
    @classmethod
    def _argv(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        if value.lstrip().startswith("["):
            try:
                parts = json.loads(value)
            except ValueError as error:
                raise InvalidValue(make_reason("settings.no_argv", error=str(error))) from None
            return tuple(str(part) for part in parts)
        return tuple(shlex.split(value))

    def run_page(self, run_id: str) -> str:
        """The address of a run's page; empty without MENDBOT_PUBLIC_URL."""
        return f"{self.public_url}/runs/{run_id}" if self.public_url else ""

    @property
    def key_pem(self) -> str:
        """The private key in PEM; raises ConfigError if it is not set or cannot be read."""
        if self.private_key is not None and self.private_key.get_secret_value():
            return self.private_key.get_secret_value().replace("\\n", "\n")
        if self.private_key_path is None:
            raise ConfigError(because=make_reason("settings.no_key"))
        try:
            return self.private_key_path.read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(because=make_reason("settings.key_unreadable", error=error.strerror or "")) from error
        except UnicodeDecodeError as error:
            raise ConfigError(because=make_reason("settings.key_not_pem")) from error


_SERVE_ONLY = frozenset({"PORT"})
"""Many other programs read this variable, so a command that does not listen ignores its value."""

_HOOK_ONLY = frozenset({"MENDBOT_ENABLED"})
_SET_FOR_CHILDREN = frozenset({"MENDBOT_PROC", "MENDBOT_MARK", "MENDBOT_TEST_NAMES", "MENDBOT_HOOK_SETTINGS"})
"""Variables that Mendbot sets for the processes it starts; another Mendbot may be one of them."""


def unknown_variables() -> dict[str, str]:
    """The variables MENDBOT_… that are no settings, each with the most similar setting, or an empty text."""
    from difflib import get_close_matches  # only `serve` asks

    known = {str(field.validation_alias) for field in Settings.model_fields.values()} | _HOOK_ONLY
    others = (name for name in os.environ if name.startswith("MENDBOT_"))
    unknown = sorted(set(others) - known - _SET_FOR_CHILDREN)
    return {name: next(iter(get_close_matches(name, known, 1, 0.8)), "") for name in unknown}


def model_keys() -> tuple[str, ...]:
    """The keys of providers of models, by the names that all of them give their variables."""
    endings = ("_API_KEY", "_API_TOKEN", "_AUTH_TOKEN", "_OAUTH_TOKEN")
    return tuple(value for name, value in os.environ.items() if name.endswith(endings) and value)


def terminal_language() -> Language:
    """The language of the terminal: MENDBOT_LANGUAGE, and English where that names no language."""
    return "ko" if os.environ.get("MENDBOT_LANGUAGE") == "ko" else "en"


def judge_variables() -> dict[str, Reason | None]:
    """The variables of settings that are set, each with what is wrong with its value; None if nothing is."""
    judged: dict[str, Reason | None] = {}
    for field in Settings.model_fields.values():
        name = str(field.validation_alias)
        if value := os.environ.get(name):
            try:
                Settings.model_validate({"MENDBOT_HOME": "/", name: value}, by_alias=True, by_name=False)
            except ValidationError as error:
                judged[name] = _wrong_setting(error.errors(include_url=False, include_input=False)[0])
            else:
                judged[name] = None
    return judged


def load_settings(*, serving: bool = False, ignored: Collection[str] = ()) -> Settings:
    """The settings from the environment. An empty variable counts as not set, and so do those that are `ignored`.

    PORT is read only if `serving`. Raises ConfigError, which names each variable with a wrong value."""
    names = {str(field.validation_alias) for field in Settings.model_fields.values()}
    names -= frozenset(ignored) if serving else _SERVE_ONLY.union(ignored)
    values = {name: value for name in names if (value := os.environ.get(name))}
    try:
        return Settings.model_validate(values, by_alias=True, by_name=False)
    except ValidationError as error:
        reasons = [_wrong_setting(each) for each in error.errors(include_url=False, include_input=False)]
        raise ConfigError(because=make_reason("all", reasons=tuple(reasons))) from None
    except RuntimeError:  # Path.home() knows of none
        raise ConfigError(because=make_reason("settings.no_home")) from None


def _wrong_setting(error: ErrorDetails) -> Reason:
    inner = error.get("ctx", {}).get("error")
    reason = inner.reason if isinstance(inner, InvalidValue) else quoted(error["msg"].removeprefix("Value error, "))
    return make_reason("settings.wrong", name=str(error["loc"][0]), why=reason)
