"""Whether GitHub answers and takes the App's key: asked now and then, and never because somebody asked us."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial

from bot.errors import Stale, Transient, UserError
from bot.github.answers import NotFound, Unauthorized
from bot.logs import get_logger
from bot.workflows.context import Context, Watch
from bot.workflows.job_runner import persistently

ASK_S = 300.0
TROUBLE_S = 30.0
"""How soon it is asked again where something was wrong."""

FITS = "APP_ID and the private key fit"
_UNFIT = "GitHub does not take the private key for APP_ID: check both against the App's settings page"
_UNKNOWN = "GitHub knows no App of this APP_ID: check it against the App's settings page"

log = get_logger()


async def watch_loop(context: Context) -> None:
    """Keep `context.watch` up to date, from the start on."""
    await persistently("watch", partial(_once, context))


async def _once(context: Context) -> None:
    await look_at_github(context)
    fine = context.watch.github == "answers" and context.watch.app == FITS
    await asyncio.sleep(ASK_S if fine else TROUBLE_S)


async def look_at_github(context: Context) -> None:
    """Ask GitHub who the App is, with its key, and note what came of it; a change is logged once."""
    before: Watch = context.watch
    answers, app = "answers", FITS
    try:
        await context.github.ask_app()
    except Unauthorized:
        app = _UNFIT
    except NotFound:
        app = _UNKNOWN
    except (UserError, Stale) as error:
        app = f"GitHub refused to say: {context.mask(str(error))[:200]}"
    except Transient as error:
        limited = error.retry_after_s is not None
        answers, app = ("wants no requests for a while" if limited else "does not answer"), before.app
    context.seen.append(Watch(answers, app, datetime.now(UTC)))
    if (before.github, before.app) != (answers, app):
        say = log.info if answers == "answers" and app == FITS else log.warning
        say("github_seen", github=answers, app=app)
