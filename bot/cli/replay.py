"""`mendbot replay`: delivers a stored or recorded payload again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.cli.arguments import Flag, Text
from bot.cli.exits import NOT_PASSED, PASSED
from bot.cli.output import print_json, say
from bot.config import terminal_language
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason


def replay(delivery: str, *, event: Text | None = None, url: Text | None = None, json: Flag = False) -> int:
    """Deliver a stored or recorded payload again, under a new id.

    It is signed with WEBHOOK_SECRET, or the first of its two values.

    Parameters
    ----------
    delivery
        the id of a stored delivery, or a file with the JSON payload
    event
        the event's name, such as issues; needed for a file
    url
        the server or its webhook; the one on this machine by default
    json
        print one JSON document instead of lines
    """
    from bot.app.created_app import with_created_app
    from bot.app.replay import Payload, deliver, recorded, stored, webhook_url
    from bot.config import load_settings

    settings = with_created_app(load_settings(serving=url is None))
    where = webhook_url(url or f"http://127.0.0.1:{settings.port}")
    path = Path(delivery)
    if path.is_file():
        if not event:
            raise user_error(make_reason("replay.no_event", path=delivery))
        payload: Payload = recorded(path, event)
    elif "/" in delivery or path.suffix:
        raise user_error(make_reason("replay.no_file", path=delivery))
    else:
        payload = asyncio.run(stored(settings, delivery, event))
    result = asyncio.run(deliver(settings, payload, where))
    accepted = result.http_status == 202
    if json:
        print_json({"delivery": result.delivery, "url": where, "httpStatus": result.http_status, **result.answer})
    elif accepted:
        say(t(terminal_language(), "replay.accepted", delivery=result.delivery, url=where))
    else:
        values = {"url": where, "status": result.http_status, "error": result.answer.get("error", "")}
        say(t(terminal_language(), "replay.refused", **values))
    return PASSED if accepted else NOT_PASSED
