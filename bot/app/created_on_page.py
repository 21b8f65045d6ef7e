"""Lets the page `/setup` make an App that has this server's public address, and the server begin to use it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.app.app_creation import AppCreation, AppWishes, ManifestForm
from bot.config import Settings
from bot.github.app_manifest import NewApp
from bot.web.pages.setup_page import CREATED_PATH


@dataclass(frozen=True, slots=True)
class PageAppCreator:
    """Implements the protocol `web.pages.setup_page.AppCreator`. `use` restarts a server that has no App yet.

    GitHub sends webhooks to `webhook_url`, such as a relay, or by default to a route of `public_url`."""

    creation: AppCreation
    public_url: str
    webhook_url: str | None = None
    use: Callable[[], None] | None = None

    def begin(self, name: str, organization: str | None) -> ManifestForm:
        wishes = AppWishes(self.public_url, name, organization, self.webhook_url)
        return self.creation.begin(wishes, self.public_url.rstrip("/") + CREATED_PATH)

    async def finish(self, code: str, state: str) -> NewApp:
        return await self.creation.finish(code, state)


def page_app_creator(settings: Settings, restart: Callable[[], None]) -> PageAppCreator | None:
    """What makes Apps for these settings; None without MENDBOT_PUBLIC_URL."""
    if not settings.public_url:
        return None
    use = restart if settings.app_id is None else None
    return PageAppCreator(AppCreation(settings), settings.public_url, settings.webhook_proxy_url, use)
