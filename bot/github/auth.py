"""The App's credentials: its JWT, and installation tokens, each for one repository and one purpose.

A token has the fewest permissions that its purpose needs, is held in memory only, and is renewed before it ends."""

from __future__ import annotations

import asyncio
import functools
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

import jwt
from cachetools import TLRUCache
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import SecretStr

from bot.errors import ConfigError
from bot.github.answers import message_of, parse_model
from bot.github.clock import ServerClock, http_date
from bot.http import HttpResponse
from bot.model import Repo
from bot.model.github_json import GitHubModel
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

Purpose = Literal["api", "fetch", "push"]

PERMISSIONS: Mapping[Purpose, Mapping[str, str]] = {
    "api": {
        "issues": "write",
        "pull_requests": "write",
        "checks": "write",
        "contents": "read",
        "metadata": "read",
    },
    "fetch": {"contents": "read", "metadata": "read"},
    "push": {"contents": "write", "metadata": "read"},
}
"""What each token may do; never `workflows`, `administration` or `secrets` (T21)."""

RENEW_BEFORE_S = 300.0
FRESH_S = 5.0
"""A new token may be refused for some seconds, until all of GitHub's servers know it."""
_MAX_REFUSALS = 4
_JWT_BACKDATE_S = 60
_JWT_LIFE_S = 540
_JWT_RENEW_S = 420
_TIME_CLAIM = re.compile(r"claim \('(exp|iat)'\)")


@dataclass(frozen=True, slots=True)
class AppIdentity:
    """The App as GitHub knows it."""

    id: int
    slug: str

    @property
    def login(self) -> str:
        """The App's bot account."""
        return f"{self.slug}[bot]"

    def author(self, user_id: int | None = None) -> str:
        """A git identity; with the bot account's user id GitHub links commits to it."""
        prefix = f"{user_id}+" if user_id is not None else ""
        return f"{self.login} <{prefix}{self.login}@users.noreply.github.com>"


class Credentials(Protocol):
    """What a request is signed with, and how it is renewed when GitHub does not accept it."""

    async def bearer(self) -> str:
        """The value for the Authorization header."""

    async def renew(self, used: str, answer: HttpResponse, refusals: int) -> bool:
        """Prepares another try after the `refusals`-th 401 of one request; whether another try makes sense."""


@functools.cache  # reading a key checks that its numbers are primes, which takes a while
def _load_key(pem: str) -> RSAPrivateKey:
    try:
        key = load_pem_private_key(pem.strip().encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # the parser's own message may quote the key
        raise user_error(make_reason("github.key_unreadable"), ConfigError) from None
    if not isinstance(key, RSAPrivateKey):
        raise user_error(make_reason("github.key_not_rsa"), ConfigError)
    return key


class AppJwt:
    """The App's own JWT: RS256, issued a minute ago, valid for nine more ("Generating a JWT for a GitHub App").

    If GitHub rejects a time claim, its `Date` header corrects our clock."""

    def __init__(self, app_id: str, key_pem: str, server: ServerClock) -> None:
        """Raises ConfigError where the id is empty or the key is no RSA key in PEM."""
        if not app_id.strip():
            raise user_error(make_reason("github.app_id_empty"), ConfigError)
        self._app_id = app_id.strip()
        self._key = _load_key(key_pem)
        self._clock = server.clock
        self._skew_s = 0.0
        self._cached: tuple[str, float] | None = None

    def token(self) -> str:
        """A JWT that is valid for at least two more minutes."""
        now = self._clock.now() + self._skew_s
        if self._cached is not None and 0 <= now - self._cached[1] < _JWT_RENEW_S:
            return self._cached[0]
        claims = {"iat": int(now) - _JWT_BACKDATE_S, "exp": int(now) + _JWT_LIFE_S, "iss": self._app_id}
        token = jwt.encode(claims, self._key, algorithm="RS256")
        self._cached = (token, now)
        return token

    def live(self) -> tuple[str, ...]:
        return (self._cached[0],) if self._cached is not None else ()

    async def bearer(self) -> str:
        return self.token()

    async def renew(self, used: str, answer: HttpResponse, refusals: int) -> bool:
        """Corrects the clock for one more try, if GitHub rejected a time claim (as octokit does)."""
        date = http_date(answer.headers.get("date"))
        if refusals > 1 or date is None or not _TIME_CLAIM.search(message_of(answer)):
            return False
        self._skew_s = date - self._clock.now()
        self._cached = None
        return True


@dataclass(frozen=True, slots=True)
class Lease:
    """One installation token; times are by our clock, in seconds since the epoch."""

    token: SecretStr
    minted: float
    expires: float


class _Minted(GitHubModel):
    token: SecretStr
    expires_at: datetime


_Key = tuple[int, str, Purpose]
Mint = Callable[[Repo, Mapping[str, object]], Awaitable[object]]
"""Asks GitHub for an installation token with that request body; returns the JSON of its answer."""


class Tokens:
    """Installation tokens by repository and purpose, each requested once and renewed before it ends."""

    def __init__(self, mint: Mint, server: ServerClock) -> None:
        self._mint = mint
        self._server = server
        self._clock = server.clock
        self._cache: TLRUCache[_Key, Lease] = TLRUCache(
            maxsize=1024, ttu=lambda _key, lease, _now: lease.expires - RENEW_BEFORE_S, timer=self._clock.now
        )
        self._locks: defaultdict[_Key, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._issued: list[Lease] = []

    async def get(self, repo: Repo, purpose: Purpose) -> Lease:
        """A token with at least five minutes left; one for a push is always new, as it is revoked after the push.

        Raises Stale if the installation is gone, UserError, Transient."""
        if purpose == "push":
            return await self._new(repo, purpose)
        key = _key(repo, purpose)
        async with self._locks[key]:
            lease = self._cache.get(key)
            if lease is None:
                lease = await self._new(repo, purpose)
                self._cache[key] = lease
            return lease

    async def _new(self, repo: Repo, purpose: Purpose) -> Lease:
        request = {"repositories": [repo.name], "permissions": dict(PERMISSIONS[purpose])}
        minted = parse_model(_Minted, await self._mint(repo, request))
        now = self._clock.now()
        # the end is dated by GitHub's clock: carry over the remaining time, not the date
        remaining = minted.expires_at.timestamp() - self._server.now()
        lease = Lease(token=minted.token, minted=now, expires=now + remaining)
        self._issued = [*(old for old in self._issued if old.expires > now), lease]
        return lease

    def drop(self, repo: Repo, purpose: Purpose, token: str) -> None:
        """Removes a token that GitHub refuses, unless another has replaced it meanwhile."""
        key = _key(repo, purpose)
        lease = self._cache.get(key)
        if lease is not None and lease.token.get_secret_value() == token:
            del self._cache[key]

    def revoked(self, token: SecretStr) -> None:
        """Removes a token that GitHub no longer knows."""
        self._issued = [lease for lease in self._issued if lease.token != token]

    def live(self) -> tuple[str, ...]:
        """Every token that GitHub may still accept, also those no longer used."""
        now = self._clock.now()
        return tuple(lease.token.get_secret_value() for lease in self._issued if lease.expires > now)


def _key(repo: Repo, purpose: Purpose) -> _Key:
    return (repo.installation_id, repo.full_name.lower(), purpose)


class RepoToken:
    """A repository's API token as credentials of requests."""

    def __init__(self, tokens: Tokens, repo: Repo, server: ServerClock) -> None:
        self._tokens = tokens
        self._repo = repo
        self._clock = server.clock

    async def bearer(self) -> str:
        return (await self._tokens.get(self._repo, "api")).token.get_secret_value()

    async def renew(self, used: str, answer: HttpResponse, refusals: int) -> bool:
        """Waits with a token in its first seconds; drops an older one, so that another is requested."""
        if refusals >= _MAX_REFUSALS:
            return False
        lease = await self._tokens.get(self._repo, "api")
        if lease.token.get_secret_value() != used:
            return True
        if self._clock.now() - lease.minted < FRESH_S:
            await self._clock.sleep(0.5 * refusals)
        else:
            self._tokens.drop(self._repo, "api", used)
        return True


class FixedToken:
    """Credentials that are one token and cannot be renewed."""

    def __init__(self, token: SecretStr) -> None:
        self._token = token

    async def bearer(self) -> str:
        return self._token.get_secret_value()

    async def renew(self, used: str, answer: object, refusals: int) -> bool:
        return False
