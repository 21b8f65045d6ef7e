"""Asks GitHub at intervals whether it answers and accepts the App's key, never because of a request to this server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial

from bot.errors import Stale, Transient, UserError
from bot.github.answers import NotFound, Unauthorized
from bot.logs import get_logger
from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason
from bot.workflows.context import Context, GitHubHealth
from bot.workflows.job_runner import persistently

ASK_S = 300.0
PROBLEM_S = 30.0
"""How soon it is asked again after a problem."""

ANSWERS = make_reason("health.answers")
KEY_FITS = make_reason("health.key_fits")

log = get_logger()


async def health_loop(context: Context) -> None:
    """Keep `context.github_health` up to date, from the start on."""
    await persistently("health", partial(_once, context))


async def _once(context: Context) -> None:
    await ask_github(context)
    await asyncio.sleep(ASK_S if _is_well(context.github_health) else PROBLEM_S)


async def ask_github(context: Context) -> None:
    """Ask GitHub for the App by its key and record the answer in `context.github_health`; a change is logged once."""
    before: GitHubHealth = context.github_health
    github, app = ANSWERS, KEY_FITS
    try:
        await context.github.ask_app()
    except Unauthorized:
        app = make_reason("health.key_refused")
    except NotFound:
        app = make_reason("health.unknown_app")
    except (UserError, Stale) as error:
        app = make_reason("health.refused", error=context.mask(str(error))[:200])
    except Transient as error:
        github, app = make_reason("health.silent" if error.retry_after_s is None else "health.wait"), before.app
    now = GitHubHealth(github, app, datetime.now(UTC))
    context.health_answers.append(now)
    if (before.github, before.app) != (github, app):
        write = log.info if _is_well(now) else log.warning
        write("github_seen", github=english(github), app=english(app))


def _is_well(health: GitHubHealth) -> bool:
    return (health.github, health.app) == (ANSWERS, KEY_FITS)
