"""The people who are signed in with GitHub: their tokens, which stay in memory, and what GitHub last said they can see.

A person's permission is asked again every three minutes in which they load a page (docs/decisions/0135)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import SecretStr

from bot.config import Settings
from bot.errors import MendbotError, Stale, Transient, UserError
from bot.github.user_access import (
    OAuthClient,
    PersonAccess,
    authorize_address,
    exchange_user_code,
    revoke_user_token,
)
from bot.http import AsyncClient, open_client
from bot.logs import get_logger
from bot.rules.app_manifest import SIGN_IN_CALLBACK
from bot.web.browser_sessions import LIFETIME_S

RECHECK_S = 180.0
MAX_UNCHECKED_S = 900.0
"""How long the last known permission holds where GitHub does not answer."""
RETRY_S = 20.0
MAX_PEOPLE = 2000

log = get_logger()


@dataclass(slots=True)
class _Person:
    """One browser's session. Times are by the clock of `GitHubPeople`."""

    token: SecretStr
    login: str
    until: float
    repositories: Mapping[str, bool]
    checked_at: float
    next_check: float
    error: Transient | None = None
    """Why GitHub did not answer when it was asked last."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class GitHubPeople:
    """Implements the protocol `web.viewers.People`. Use it from one event loop."""

    def __init__(self, settings: Settings, oauth: OAuthClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._oauth = oauth
        self._clock = clock
        self._people: dict[str, _Person] = {}
        self._clients: dict[str, AsyncClient] = {}
        self._revoking: set[asyncio.Task[None]] = set()

    def address(self, state: str, verifier: str) -> str:
        return authorize_address(self._oauth, state, verifier)

    async def sign_in(self, session_id: str, code: str, verifier: str) -> str:
        client = await self._client(self._oauth.github_url)
        token = await exchange_user_code(client, self._oauth, code, verifier)
        access = await self._access(token.access_token)
        login, repositories = await access.login(), await access.repositories()
        now = self._clock()
        until = now + min(LIFETIME_S, token.expires_in or LIFETIME_S)
        self._people[session_id] = _Person(token.access_token, login, until, repositories, now, now + RECHECK_S)
        while len(self._people) > MAX_PEOPLE:
            del self._people[next(iter(self._people))]
        log.info("signed_in", login=login, repositories=len(repositories))
        return login

    async def repositories(self, session_id: str) -> Mapping[str, bool] | None:
        person = self._people.get(session_id)
        if person is None:
            return None
        async with person.lock:
            now = self._clock()
            if now >= person.until:
                self._people.pop(session_id, None)
            elif now >= person.next_check:
                await self._check(session_id, person, now)
            if person.error is not None and now - person.checked_at > MAX_UNCHECKED_S:
                raise person.error
            return person.repositories if session_id in self._people else None

    async def _check(self, session_id: str, person: _Person, now: float) -> None:
        """Ask GitHub again what the person can see; somebody whom GitHub no longer knows is signed out."""
        person.next_check = now + RETRY_S
        try:
            person.repositories = await (await self._access(person.token)).repositories()
        except Transient as error:
            person.error = error
            log.warning("permission_unchecked", login=person.login, because=str(error))
        except (UserError, Stale) as error:
            log.info("signed_out", login=person.login, because=str(error))
            self._people.pop(session_id, None)
        else:
            person.checked_at, person.next_check, person.error = now, now + RECHECK_S, None

    def sign_out(self, session_id: str) -> None:
        person = self._people.pop(session_id, None)
        if person is not None:
            revoking = asyncio.create_task(self._revoke(person))
            self._revoking.add(revoking)
            revoking.add_done_callback(self._revoking.discard)

    async def _revoke(self, person: _Person) -> None:
        """End the token on GitHub too; where that fails, it expires within eight hours."""
        url = self._settings.github_api_url
        try:
            await revoke_user_token(await self._client(url), url, self._oauth, person.token)
        except MendbotError as error:
            log.warning("token_not_revoked", login=person.login, because=str(error))

    async def close(self) -> None:
        """Wait for the tokens that are being revoked, and close the connections to GitHub."""
        await asyncio.gather(*self._revoking)
        for client in self._clients.values():
            await client.aclose()

    async def _access(self, token: SecretStr) -> PersonAccess:
        url = self._settings.github_api_url
        return PersonAccess(await self._client(url), url, token)

    async def _client(self, url: str) -> AsyncClient:
        """A client of that address, opened once. Its host is looked up, which may take a while."""
        if url not in self._clients:
            opened = await asyncio.to_thread(open_client, url, allow_private=self._settings.allow_private_api)
            self._clients.setdefault(url, opened)
        return self._clients[url]


def people_of(settings: Settings) -> GitHubPeople | None:
    """Where people sign in with these settings; None without the App's client id and secret."""
    client_id, secret = settings.github_client_id, settings.github_client_secret
    if not client_id or not secret:
        return None
    redirect_url = f"{settings.public_url}{SIGN_IN_CALLBACK}" if settings.public_url else ""
    return GitHubPeople(settings, OAuthClient(settings.github_url, client_id, secret, redirect_url))
