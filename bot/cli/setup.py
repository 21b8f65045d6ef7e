"""`mendbot setup`: makes the operator's GitHub App in the browser and stores its credentials in the home."""

from __future__ import annotations

import asyncio

from bot.cli.arguments import Number
from bot.cli.exits import NOT_PASSED, PASSED
from bot.cli.output import note, say
from bot.config import terminal_language
from bot.errors import UserError
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason


def setup(
    *,
    url: str | None = None,
    webhook_url: str | None = None,
    name: str = "Mendbot",
    organization: str | None = None,
    port: Number = 0,
) -> int:
    """Make the GitHub App in the browser, and store its key and secrets in MENDBOT_HOME.

    It prints an address of this machine to open. The file github-app.env is never overwritten; serve reads it.

    Parameters
    ----------
    url
        where people and GitHub reach Mendbot (MENDBOT_PUBLIC_URL)
    webhook_url
        where GitHub sends webhooks, such as a relay
    name
        the App's name, which must be unique on GitHub
    organization
        the organization that owns the App; your own account by default
    port
        the port of 127.0.0.1 to listen on; a free one by default
    """
    from bot.app.app_creation import AppCreation, AppWishes
    from bot.app.setup_server import SetupServer
    from bot.config import load_settings
    from bot.http import check_api_url
    from bot.web.server import bind

    settings, language = load_settings(), terminal_language()
    public_url = url or settings.public_url
    if public_url is None or not public_url.startswith(("http://", "https://")):
        raise user_error(make_reason("app_setup.no_url"), UserError)
    check_api_url(settings.github_api_url, settings.allow_private_api)
    creation = AppCreation(settings)
    creation.require_no_file()
    wishes = AppWishes(public_url, name, organization, webhook_url)
    server = SetupServer(creation, wishes, bind("127.0.0.1", port), language)
    note(t(language, "setup.open", address=server.address))
    app = asyncio.run(server.run())
    if app is None:
        note(t(language, "setup.not_made"))
        return NOT_PASSED
    say(t(language, "setup.made", name=app.name, path=str(settings.home / "github-app.env")))
    say(t(language, "setup.next", install=f"{app.html_url}/installations/new"))
    return PASSED
