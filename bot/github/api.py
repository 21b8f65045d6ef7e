"""The door to GitHub's REST API for one identity: gidgethub builds the requests, this sends them with our pace, our
credentials and our judgement of the answers. What it raises is one of our four errors, never gidgethub's."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gidgethub.abc import GitHubAPI

from bot import http
from bot.errors import UserError
from bot.github.answers import NotFound, raise_for_status
from bot.github.auth import Credentials
from bot.github.clock import ServerClock
from bot.github.rate_limit import Priority, RateLimiter
from bot.http import AsyncClient, NotSent, Unclear
from bot.logs import get_logger
from bot.model import Repo

ACCEPT = "application/vnd.github+json"
API_VERSION = "2022-11-28"
MAX_PAGES = 300
"""30,000 comments; past it something is wrong, and going on would cost an hour's quota."""

_TRIES = 3
_BACKOFF_S = 0.5
_NOT_YET_S = (0.5, 2.0)
_REPEATABLE = frozenset({"GET", "PUT", "DELETE"})

Variables = Mapping[str, str | int]
ResultT = TypeVar("ResultT")
log = get_logger()


@dataclass(frozen=True, slots=True)
class GitHubTransport:
    """What all identities share: the pinned client, the API's base URL, GitHub's clock."""

    client: AsyncClient
    base_url: str
    server: ServerClock
    cut_short: set[str] = field(default_factory=set)
    """The lists (path templates) whose `Link` led elsewhere: each is worth one line in the log."""


class Api(GitHubAPI):
    """Requests of one identity. `lane` is that of its writes: those that make no content (tokens, redeliveries) are
    free; reads always are."""

    def __init__(
        self, door: GitHubTransport, credentials: Credentials | None, pace: RateLimiter, *, lane: Priority = "queue"
    ) -> None:
        super().__init__("mendbot", base_url=door.base_url)
        self._door = door
        self._credentials = credentials
        self._pace = pace
        self._lane: Priority = lane

    def ahead(self) -> Api:
        """The same identity, whose writes go before those that wait: for what someone is looking out for."""
        return Api(self._door, self._credentials, self._pace, lane="ahead")

    async def sleep(self, seconds: float) -> None:
        await self._door.server.clock.sleep(seconds)

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> tuple[int, Mapping[str, str], bytes]:
        """One request; after a 401 as often again as the credentials see sense in it."""
        path = _path(url, self.base_url)
        refusals = 0
        while True:
            async with self._pace.turn("free" if method == "GET" else self._lane):
                signed = {**headers, "x-github-api-version": API_VERSION}
                bearer = await self._credentials.bearer() if self._credentials else ""
                if bearer:
                    signed["authorization"] = f"Bearer {bearer}"
                self._pace.check()  # minting the token took time
                answer = await http.send(self._door.client, method, url, signed, body)
                self._door.server.observe(answer.headers)
                self._pace.heed(answer)
            refusals += 1
            if answer.status == 401 and self._credentials and await self._credentials.renew(bearer, answer, refusals):
                continue
            raise_for_status(method, path, answer)
            # only what gidgethub needs: its own reading of limits and charsets fails on odd values
            kept = {"content-type": "application/json; charset=utf-8"}
            if "link" in answer.headers:
                kept["link"] = answer.headers["link"]
            return answer.status, kept, answer.body

    async def call(
        self, method: str, path: str, variables: Variables, data: Any = b"", *, repeatable: bool | None = None
    ) -> Any:
        """The JSON of the answer. `path` is a URI template (RFC 6570), `data` the JSON to send.

        GET, PUT and DELETE, and what `repeatable` says so of, are tried three times quickly after 5xx, time-outs and
        broken answers; others only where nothing was sent. Then raises Unclear or NotSent (both Transient); raises
        Missing (404), Invalid (422), Stale (410), UserError, or Transient with the time to wait for a limit."""
        for value in variables.values():
            if value in ("", ".", ".."):
                raise UserError(f"{value!r} cannot be part of {path}")
        may_repeat = method in _REPEATABLE if repeatable is None else repeatable

        async def once() -> Any:
            return (await self._make_request(method, path, variables, data, ACCEPT))[0]

        return await self._persist(once, may_repeat)

    async def get(self, path: str, variables: Variables, *, patient: bool = False) -> Any:
        """GET. `patient` asks twice more after a 404, for an event may arrive before its object can be read."""
        for delay in _NOT_YET_S if patient else ():
            try:
                return await self.call("GET", path, variables)
            except NotFound:
                await self.sleep(delay)
        return await self.call("GET", path, variables)

    async def pages(
        self, path: str, variables: Variables, key: str | None = None, max_pages: int = MAX_PAGES
    ) -> AsyncIterator[Any]:
        """The items of a list, page after page by `Link`; `key` names the member that holds them.

        A `Link` that leads out of the API's origin is never followed: the list ends there. Raises UserError past
        `max_pages`."""
        more: str | None = None
        for _ in range(max_pages):
            items, more = await self.page(path, variables, more, key)
            for item in items:
                yield item
            if more is None:
                return
        raise UserError(f"{path} has more than {max_pages} pages; that is more than Mendbot reads")

    async def page(
        self, path: str, variables: Variables, link: str | None = None, key: str | None = None
    ) -> tuple[list[Any], str | None]:
        """One page of a list, and the link of the next if there is one; `link` is the one that the page before gave."""

        async def once() -> tuple[Any, str | None]:
            filled = None if link else variables
            data, more, _ = await self._make_request("GET", link or path, filled, b"", ACCEPT)
            return data, more

        data, more = await self._persist(once, may_repeat=True)
        items = data.get(key) if key and isinstance(data, dict) else data
        if not isinstance(items, list):
            raise Unclear(f"GitHub's answer has an unexpected shape: {path} is not a list")
        return items, None if more is None or self._leads_elsewhere(path, more) else more

    def _leads_elsewhere(self, path: str, link: str) -> bool:
        """Whether a list's next page is not GitHub's. A proxy in between may write such links: what is there is used,
        for a command that gets no answer helps nobody."""
        if not http.leads_elsewhere(self._door.base_url, link):
            return False
        if path not in self._door.cut_short:
            self._door.cut_short.add(path)
            log.warning("next_page_elsewhere", path=path, link=link[:200], because="the list ends with this page")
        return True

    async def _persist(self, once: Callable[[], Awaitable[ResultT]], may_repeat: bool) -> ResultT:
        for attempt in range(_TRIES - 1):
            try:
                return await once()
            except NotSent:
                pass
            except Unclear:
                if not may_repeat:
                    raise
            # jitter, so that what failed together does not return together
            await self.sleep(_BACKOFF_S * 2**attempt * (1 + random.random()))  # noqa: S311
        return await once()


def _path(url: str, base_url: str) -> str:
    return url.removeprefix(base_url).partition("?")[0]


def names_of(repo: Repo, **more: str | int) -> dict[str, str | int]:
    """The variables of a path in that repository."""
    return {"owner": repo.owner, "repo": repo.name, **more}
