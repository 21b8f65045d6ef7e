"""Exchanges the code of the manifest flow for the new App's credentials. A code works once, for one hour."""

from __future__ import annotations

from pydantic import SecretStr

from bot.errors import UserError
from bot.github.answers import Invalid, NotFound, parse_model
from bot.github.api import Api, GitHubTransport
from bot.github.clock import Clock, ServerClock
from bot.github.rate_limit import RateLimiter
from bot.http import AsyncClient
from bot.model.github_json import GitHubModel
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

_CONVERSIONS = "/app-manifests/{code}/conversions"


class NewApp(GitHubModel):
    """An App that GitHub has just made, with its secrets."""

    id: int
    slug: str
    name: str
    html_url: str
    client_id: str
    client_secret: SecretStr
    webhook_secret: SecretStr | None = None
    pem: SecretStr


async def exchange_code(client: AsyncClient, api_url: str, code: str) -> NewApp:
    """The App that was made with this code, which is used up. `client` is `http.open_client` of the same `api_url`.

    Raises UserError for a code that is unknown, used or too old, and Transient where GitHub does not answer."""
    server = ServerClock(Clock())
    api = Api(GitHubTransport(client, api_url.rstrip("/"), server), None, RateLimiter(server, 0.0), priority="free")
    try:
        return parse_model(NewApp, await api.call("POST", _CONVERSIONS, {"code": code}))
    except (NotFound, Invalid) as error:
        raise user_error(make_reason("app_setup.code"), UserError) from error
