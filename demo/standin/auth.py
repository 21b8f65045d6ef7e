"""Who is asking, and may they: the App by its signed JWT, an installation by its token, a person by theirs.

Sources: GitHub, "Generating a JSON Web Token (JWT) for a GitHub App", "Generating an installation access token",
"Permissions required for GitHub Apps"; the messages are GitHub's own."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import jwt

from demo.standin.answers import ApiError, malformed, not_found, permit
from demo.standin.records import Installation, Repository, Token
from demo.standin.sign_ins import UserToken
from demo.standin.state import State

MAX_JWT_S = 600
TOKEN_LIFE = timedelta(hours=1)

Permission = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request; exactly one of the four where the credentials were good.

    `client` is the OAuth client of the App."""

    app: bool = False
    client: bool = False
    token: Token | None = None
    user: UserToken | None = None

    @property
    def name(self) -> str:
        if self.user:
            return f"user:{self.user.user.login}"
        other = "client" if self.client else "app"
        return f"installation:{self.token.installation.id}" if self.token else other


def bearer(header: str | None) -> str | None:
    """What follows `Bearer` or `token` in an Authorization header."""
    scheme, _, value = (header or "").partition(" ")
    return value.strip() if scheme.lower() in ("bearer", "token") and value.strip() else None


def basic(state: State) -> str:
    """The Authorization header of the App's OAuth client."""
    return f"Basic {base64.b64encode(f'{state.app.client_id}:{state.app.client_secret}'.encode()).decode()}"


def check_jwt(state: State, text: str) -> None:
    """Refuse anything but a JWT of our App that is valid now; lists the reasons in GitHub's words."""
    key = state.app.public_key_pem
    options: Any = {"verify_exp": False, "verify_iat": False, "verify_nbf": False, "verify_aud": False}
    try:
        claims = jwt.decode(text, key, algorithms=["RS256"], options=options)
    except jwt.PyJWTError:
        raise ApiError(401, "A JSON web token could not be decoded") from None
    now = state.now().timestamp()
    issued, expires = claims.get("iat"), claims.get("exp")
    if "iss" not in claims:
        raise ApiError(401, "Missing 'issuer' claim ('iss') in assertion")
    if str(claims["iss"]) != str(state.app.id):
        raise ApiError(404, "Integration not found")
    if not isinstance(issued, int) or issued > now:
        raise ApiError(
            401,
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
        )
    if not isinstance(expires, int) or expires <= now:
        raise ApiError(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the "
            "assertion expires",
        )
    if expires > now + MAX_JWT_S:
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def find_token(state: State, text: str) -> Token:
    """The live token, or 401; a suspended installation's is 403."""
    token = state.tokens.get(digest(text))
    if token is None or token.expires_at <= state.now() or token.installation.id not in state.installations:
        raise ApiError(401, "Bad credentials")
    if token.installation.suspended_at:
        raise ApiError(403, "This installation has been suspended")
    return token


def identify(state: State, header: str | None) -> Caller | None:
    """The caller behind an Authorization header, None without one."""
    text = bearer(header)
    if header is not None and header == basic(state):
        return Caller(client=True)
    if text is None:
        if header:
            raise ApiError(401, "Bad credentials")
        return None
    if text.startswith("ghs_"):
        return Caller(token=find_token(state, text))
    if text.startswith("ghu_"):
        person = state.user_tokens.get(digest(text))
        if person is None or person.expires_at <= state.now():
            raise ApiError(401, "Bad credentials")
        return Caller(user=person)
    check_jwt(state, text)
    return Caller(app=True)


def granted(token: Token, needs: Iterable[Permission]) -> bool:
    """Whether the token has one of the permissions; write includes read."""
    have = token.permissions
    return any(have.get(name) == "write" or have.get(name) == level for name, level in needs)


def may_see(token: Token, repo: Repository) -> bool:
    return repo.id in token.repository_ids and repo.installed and repo.owner is token.installation.account


def mint(state: State, installation: Installation, body: Any) -> tuple[str, Token, list[Repository] | None]:
    """A new token for an installation; `body` as in POST /app/installations/{id}/access_tokens.

    -> its text, its record, and the repositories it was limited to, if it was."""
    if installation.suspended_at:
        raise ApiError(403, "This installation has been suspended")
    asked = body if isinstance(body, dict) else {}
    permit(asked, repositories=list, repository_ids=list, permissions=dict)
    there = state.repos_of(installation)
    chosen = _chosen(there, asked)
    token = Token(
        installation=installation,
        repository_ids=frozenset(repo.id for repo in (there if chosen is None else chosen)),
        permissions=_permissions(installation, asked.get("permissions")),
        expires_at=state.now() + TOKEN_LIFE,
    )
    text = new_token_text(state.app.id)
    state.tokens[digest(text)] = token
    return text, token, chosen


def _chosen(there: list[Repository], asked: dict[str, Any]) -> list[Repository] | None:
    names, ids = asked.get("repositories"), asked.get("repository_ids")
    if names is None and ids is None:
        return None
    by_name = {repo.name.lower(): repo for repo in there}
    by_id = {repo.id: repo for repo in there}
    chosen = [by_name.get(str(name).lower()) for name in names or ()] + [by_id.get(number) for number in ids or ()]
    found = [repo for repo in chosen if repo]
    if len(found) < len(chosen) or not found:
        raise ApiError(
            422,
            "There is at least one repository that does not exist or is not accessible to the parent installation.",
        )
    return found


def _permissions(installation: Installation, asked: dict[str, Any] | None) -> dict[str, str]:
    if asked is None:
        return dict(installation.permissions)
    for name, level in asked.items():
        have = installation.permissions.get(name)
        if level not in ("read", "write"):
            raise malformed(f"For 'properties/{name}', {level!r} is not a possible value.")
        if have != "write" and have != level:
            raise ApiError(422, "The permissions requested are not granted to this installation.")
    return {"metadata": "read", **asked}


def new_token_text(app_id: int) -> str:
    """A token of the present shape, `ghs_APPID_JWT`: about 520 characters with dots and dashes (GitHub changelog,
    2026-05-15)."""

    def part(size: int) -> str:
        return base64.urlsafe_b64encode(os.urandom(size)).decode().rstrip("=")

    return f"ghs_{app_id}_{part(27)}.{part(120)}-{part(90)}.{part(128)}"


def installation_by_id(state: State, number: int) -> Installation:
    try:
        return state.installations[number]
    except KeyError:
        raise not_found() from None
