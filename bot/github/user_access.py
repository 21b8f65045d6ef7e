"""People who sign in with GitHub: the address of GitHub's page, the exchange of its code, and what a person can see.

It is the web application flow of a GitHub App, with a state and PKCE (RFC 7636). GitHub Docs, "Generating a user access
token for a GitHub App"."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote, urlencode

from pydantic import Field, SecretStr

from bot.errors import UserError
from bot.github.answers import parse_json, parse_model, raise_for_status
from bot.github.api import ACCEPT, Api, GitHubTransport
from bot.github.auth import FixedToken
from bot.github.clock import Clock, ServerClock
from bot.github.rate_limit import RateLimiter
from bot.http import AsyncClient, send
from bot.model.github_json import GitHubModel
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

_AUTHORIZE = "/login/oauth/authorize"
_TOKEN = "/login/oauth/access_token"  # noqa: S105  # a path
_PER_PAGE = 100
_WRONG_SECRET = "incorrect_client_credentials"  # noqa: S105  # an error of GitHub's


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """The App as people authorize it. `redirect_url` is one of the App's callback URLs; empty for its first one."""

    github_url: str
    client_id: str
    client_secret: SecretStr
    redirect_url: str = ""


class UserToken(GitHubModel):
    """A token with which the App acts for a person. `expires_in` are seconds; None where it does not end."""

    access_token: SecretStr
    expires_in: int | None = None


class _User(GitHubModel):
    login: str


class _Installation(GitHubModel):
    id: int
    suspended_at: str | None = None


class _Permissions(GitHubModel):
    push: bool = False


class _Repository(GitHubModel):
    full_name: str
    permissions: _Permissions = Field(default_factory=_Permissions)


def authorize_address(oauth: OAuthClient, state: str, verifier: str) -> str:
    """The address of GitHub's page where a person authorizes the App. `verifier` is PKCE's secret."""
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
    fields = {"client_id": oauth.client_id, "redirect_uri": oauth.redirect_url, "state": state}
    fields |= {"code_challenge": challenge, "code_challenge_method": "S256"}
    query = urlencode({name: value for name, value in fields.items() if value})
    return f"{oauth.github_url.rstrip('/')}{_AUTHORIZE}?{query}"


async def exchange_user_code(client: AsyncClient, oauth: OAuthClient, code: str, verifier: str) -> UserToken:
    """The token of the person who brought this code, which is used up. `client` is `http.open_client` of GitHub's URL.

    Raises UserError for a code that is wrong, used or too old, and for a wrong client secret; Transient where GitHub
    does not answer."""
    fields = {"client_id": oauth.client_id, "client_secret": oauth.client_secret.get_secret_value(), "code": code}
    fields |= {"redirect_uri": oauth.redirect_url, "code_verifier": verifier}
    body = urlencode({name: value for name, value in fields.items() if value}).encode()
    headers = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
    answer = await send(client, "POST", oauth.github_url.rstrip("/") + _TOKEN, headers, body, total_s=20.0)
    raise_for_status("POST", _TOKEN, answer)
    data = parse_json(answer.body)
    if isinstance(data, Mapping) and "error" in data:
        kind = "sign_in.secret" if data["error"] == _WRONG_SECRET else "sign_in.code"
        raise user_error(make_reason(kind), UserError)
    return parse_model(UserToken, data)


async def revoke_user_token(client: AsyncClient, api_url: str, oauth: OAuthClient, token: SecretStr) -> None:
    """End a person's token; one that GitHub no longer knows is fine. `client` is `http.open_client` of `api_url`.

    Raises UserError where GitHub refuses, and Transient where it does not answer."""
    pair = f"{oauth.client_id}:{oauth.client_secret.get_secret_value()}"
    headers = {"accept": ACCEPT, "authorization": f"Basic {b64encode(pair.encode()).decode()}"}
    body = json.dumps({"access_token": token.get_secret_value()}).encode()
    path = f"/applications/{quote(oauth.client_id, safe='')}/token"
    answer = await send(client, "DELETE", api_url.rstrip("/") + path, headers, body, total_s=20.0)
    if answer.status not in (404, 422):
        raise_for_status("DELETE", path, answer)


class PersonAccess:
    """What GitHub shows one person of the App's repositories. `client` is `http.open_client` of the same `api_url`."""

    def __init__(self, client: AsyncClient, api_url: str, token: SecretStr) -> None:
        server = ServerClock(Clock())
        transport = GitHubTransport(client, api_url.rstrip("/"), server)
        self._api = Api(transport, FixedToken(token), RateLimiter(server, 0.0), priority="free")

    async def login(self) -> str:
        """The person's login. Raises UserError for a token that GitHub does not accept, Transient."""
        return parse_model(_User, await self._api.get("/user", {})).login

    async def repositories(self) -> dict[str, bool]:
        """The repositories, in lower case, where the App is installed and the person has explicit permission, with
        whether they can write. Raises UserError for a token that GitHub does not accept, Transient."""
        found: dict[str, bool] = {}
        page = {"per_page": _PER_PAGE}
        async for item in self._api.pages("/user/installations{?per_page}", page, "installations"):
            installation = parse_model(_Installation, item)
            if installation.suspended_at is None:
                path, names = "/user/installations/{id}/repositories{?per_page}", {"id": installation.id, **page}
                async for entry in self._api.pages(path, names, "repositories"):
                    repository = parse_model(_Repository, entry)
                    found[repository.full_name.lower()] = repository.permissions.push
        return found
