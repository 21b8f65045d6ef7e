"""`mendbot relay`: passes webhooks from a relay such as smee.io to a server on this machine."""

from __future__ import annotations

import asyncio

from bot.cli.arguments import Number, Text
from bot.cli.exits import PASSED
from bot.cli.output import note, say
from bot.config import terminal_language
from bot.reports.locale.catalog import t


def relay(url: Text, *, port: Number | None = None, to: Text | None = None) -> int:
    """Pass webhooks from a channel of smee.io, or of a server like it, to a local server.

    It runs until Ctrl-C. Set the URL of the channel as the webhook URL of the App.

    Parameters
    ----------
    url
        the channel, such as https://smee.io/new makes one
    port
        the port of the server on this machine (PORT, else 3000)
    to
        another server or webhook instead
    """
    from bot.app.relay import Passed
    from bot.app.relay import relay as pass_on
    from bot.app.replay import webhook_url
    from bot.config import load_settings

    settings, language = load_settings(serving=port is None and to is None), terminal_language()
    target = webhook_url(to or f"http://127.0.0.1:{settings.port if port is None else port}")

    def show(passed: Passed) -> None:
        say(t(language, "relay.delivered", **passed._asdict()))

    note(t(language, "relay.started", url=url, target=target))
    try:
        asyncio.run(pass_on(url, target, show))
    except KeyboardInterrupt:
        return PASSED
    return PASSED
