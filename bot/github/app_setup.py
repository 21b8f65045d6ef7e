"""How the App is set up on GitHub: its permissions, events and webhook, and what became of the last deliveries."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from bot.github.answers import NotFound, parse_model
from bot.github.api import Api
from bot.model.github_json import GitHubModel

_RECENT = 30


class AppSetup(GitHubModel):
    """The App as its settings page shows it. `installations_count` is None where the server does not say."""

    slug: str
    permissions: dict[str, str] = Field(default_factory=dict)
    events: tuple[str, ...] = ()
    installations_count: int | None = None


class HookSetup(GitHubModel):
    """The App's webhook. GitHub shows a secret as asterisks; it is None or empty where there is none."""

    url: str | None = None
    content_type: str | None = None
    secret: str | None = None


class RecentDelivery(GitHubModel):
    """One attempt to deliver an event; `status_code` is 0 where no server answered."""

    guid: str
    event: str
    status: str
    status_code: int


async def read_app(api: Api) -> AppSetup:
    """The App itself. Raises UserError if APP_ID and key do not fit, NotFound without such an App, Transient."""
    return parse_model(AppSetup, await api.get("/app", {}))


async def read_hook(api: Api) -> HookSetup | None:
    """The App's webhook; None where the server does not show it. Raises UserError, Transient."""
    try:
        return parse_model(HookSetup, await api.get("/app/hook/config", {}))
    except NotFound:
        return None


async def read_deliveries(api: Api) -> tuple[RecentDelivery, ...]:
    """The latest attempts to deliver, newest first; none where the server does not list them."""
    try:
        items, _ = await api.page("/app/hook/deliveries{?per_page}", {"per_page": _RECENT})
    except NotFound:
        return ()
    return tuple(parse_model(RecentDelivery, item) for item in items)


def lacking_permissions(wanted: Mapping[str, str], granted: Mapping[str, str]) -> tuple[str, ...]:
    """Those of the wanted permissions that are not granted, such as `checks: write`; write includes read."""
    return tuple(
        f"{name}: {level}" for name, level in wanted.items() if granted.get(name) not in (level, "write", "admin")
    )
