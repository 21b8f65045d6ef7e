"""Passes webhooks from a relay such as smee.io to a server on this machine, which GitHub cannot reach."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

from bot.app.replay import WEBHOOK_PATH
from bot.config import Settings
from bot.errors import MendbotError, Transient
from bot.http import check_api_url, event_data, open_client, send
from bot.logs import get_logger
from bot.rules.events.relayed import RelayedDelivery, read_relayed

SILENCE_S = 90.0
"""A relay sends a ping at least every 30 s; a connection that is silent for longer is opened anew."""
_PAUSE_S, _MAX_PAUSE_S = 0.5, 30.0

log = get_logger()


class Passed(NamedTuple):
    """A delivery that was passed on, with the server's HTTP status; 0 where no server answered."""

    event: str
    delivery: str
    status: int


async def relay(url: str, target: str, on_passed: Callable[[Passed], None] = lambda _: None) -> None:
    """Pass on what comes from that channel to the webhook `target`, until it is cancelled.

    Connects again after network problems, with growing pauses. Raises UserError where there is no channel."""
    channel = check_api_url(url, allow_private=True, setting="URL")
    pause_s = _PAUSE_S
    async with open_client(channel, allow_private=True, timeout_s=SILENCE_S) as client:
        while True:
            try:
                async for data in event_data(client, channel):
                    pause_s = _PAUSE_S
                    delivery = read_relayed(data)
                    if delivery is not None:
                        on_passed(await _pass_on(delivery, target))
            except Transient as error:
                log.warning("relay_waits", because=str(error), wait_s=pause_s)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, _MAX_PAUSE_S)


async def _pass_on(delivery: RelayedDelivery, target: str) -> Passed:
    event, guid = (delivery.headers.get(f"x-github-{name}", "") for name in ("event", "delivery"))
    try:
        async with open_client(target, allow_private=True) as client:
            answer = await send(client, "POST", target, delivery.headers, delivery.body)
    except MendbotError as error:
        log.warning("not_relayed", delivery=guid, kind=event, because=str(error))
        return Passed(event, guid, 0)
    log.info("relayed", delivery=guid, kind=event, status=answer.status)
    return Passed(event, guid, answer.status)


@contextlib.contextmanager
def relayed(settings: Settings, server: str) -> Iterator[None]:
    """Passes on what comes from WEBHOOK_PROXY_URL to that server meanwhile; does nothing without that setting."""
    if settings.webhook_proxy_url is None:
        yield
        return
    loop = asyncio.new_event_loop()
    task = loop.create_task(_relay_always(settings.webhook_proxy_url, f"{server}{WEBHOOK_PATH}"))
    thread = threading.Thread(target=_run, args=(loop, task), name="relay", daemon=True)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(5)


def _run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        loop.run_until_complete(task)
    loop.close()


async def _relay_always(url: str, target: str) -> None:
    """As `relay`; a channel that is not there, or no longer, does not end the server."""
    while True:
        try:
            await relay(url, target)
        except MendbotError as error:
            log.warning("relay_refused", because=str(error))
        await asyncio.sleep(_MAX_PAUSE_S)
