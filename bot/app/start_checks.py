"""What `serve` checks before it starts, as a table that `mendbot doctor` goes through too."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from bot.config import Settings
from bot.errors import ConfigError, MendbotError
from bot.http import check_api_url
from bot.logs import check_log_settings, get_logger
from bot.model.reasons import Reason
from bot.reports.format.truncate import one_line
from bot.reports.locale.reasons import english, user_error
from bot.rules.reasons import error_reason, make_reason
from bot.web.signature import parse_secrets
from bot.workflows.agents.build_agents import check_specs, operators_argv
from bot.workspace.git.command import require_git
from bot.workspace.sandbox.agent_program import program_problem
from bot.workspace.sandbox.sandbox import Sandbox

log = get_logger()

_APP_ID = re.compile(r"[0-9]+|Iv[0-9A-Za-z.]{6,}")
"""GitHub also takes an App's client id for its id."""

StartCheck = Callable[[Settings], object]
"""Raises ConfigError with the remedy."""


def _user(settings: Settings) -> None:
    if os.geteuid() == 0 and not settings.allow_root:
        raise user_error(make_reason("serve.root"), ConfigError)


def _webhook_secret(settings: Settings) -> None:
    parse_secrets(settings.webhook_secret.get_secret_value() if settings.webhook_secret else None)


def _app_id(settings: Settings) -> None:
    if not settings.app_id:
        raise user_error(make_reason("serve.no_app_id"), ConfigError)
    if not _APP_ID.fullmatch(settings.app_id.strip()):
        raise user_error(make_reason("serve.bad_app_id", value=one_line(settings.app_id, 40)), ConfigError)


def _sign_in(settings: Settings) -> None:
    if bool(settings.github_client_id) != bool(settings.github_client_secret):
        raise user_error(make_reason("sign_in.half"), ConfigError)


def _workspace_roots(settings: Settings) -> None:
    for root in settings.workspace_roots:
        if not root.is_dir():
            raise user_error(make_reason("serve.no_root", path=str(root)), ConfigError)


def _urls(settings: Settings) -> None:
    if settings.webhook_proxy_url is not None:
        check_api_url(settings.webhook_proxy_url, allow_private=True, setting="WEBHOOK_PROXY_URL")
    check_api_url(settings.github_api_url, settings.allow_private_api)
    check_api_url(settings.github_url, settings.allow_private_api, setting="MENDBOT_GITHUB_URL")


async def agent_problem(settings: Settings, argv: tuple[str, ...], sandbox: Sandbox) -> Reason | None:
    """Returns why the operator's agent with this command line cannot start in the sandbox, or None."""
    with tempfile.TemporaryDirectory() as tree:
        try:
            return await program_problem(argv, Path(tree), sandbox, settings)
        except MendbotError as error:
            return error_reason(error)


async def warn_of_agents(settings: Settings, sandbox: Sandbox) -> None:
    """Log a warning for each agent of the operator's own that cannot start; the other agents still work."""
    if sandbox.level == "refused":
        return  # nothing may run, which the sandbox's description explains
    for spec in settings.agents:
        argv = operators_argv(settings, spec, by_operator=True)
        problem = await agent_problem(settings, argv, sandbox) if argv else None
        if problem is not None:
            log.warning("agent_cannot_start", agent=spec, because=english(problem))


START_CHECKS: Mapping[str, StartCheck] = {
    "user": _user,
    "logs": lambda settings: check_log_settings(settings.log_level, settings.log_format),
    "webhook_secret": _webhook_secret,
    "app_id": _app_id,
    "sign_in": _sign_in,
    "workspace_roots": _workspace_roots,
    "private_key": lambda settings: settings.key_pem,
    "github_urls": _urls,
    "agents": lambda settings: check_specs(settings.agents),
    "git": lambda _: asyncio.run(require_git()),
}
"""Every check by its name."""


_OF_APP = frozenset({"webhook_secret", "app_id", "private_key"})


def lacks_app(settings: Settings) -> bool:
    """Whether nothing is set of what an App needs: `serve` then starts without one, so that `/setup` can create it.

    Where only a part is set, the rest was forgotten, and `serve` refuses to start."""
    secrets = (settings.private_key, settings.webhook_secret)
    given = any(secret is not None and secret.get_secret_value().strip() for secret in secrets)
    return not (settings.app_id or settings.private_key_path or given)


def check_settings(settings: Settings, *, without_app: bool = False) -> None:
    """Check everything that `serve` needs to start, with or without an App; raises ConfigError with the remedy."""
    for name, check in START_CHECKS.items():
        if not (without_app and name in _OF_APP):
            check(settings)
