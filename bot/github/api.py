"""The client of GitHub's REST API for one identity.

gidgethub builds the requests. `Api` adds credentials, waits for the rate limiter, sends, and turns every failure into
one of our four errors."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gidgethub.abc import GitHubAPI

from bot import http
from bot.github.answers import NotFound, raise_for_status
from bot.github.auth import Credentials
from bot.github.clock import ServerClock
from bot.github.rate_limit import Priority, RateLimiter
from bot.http import AsyncClient, NotSent, Unclear
from bot.logs import get_logger
from bot.model import Repo
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

ACCEPT = "application/vnd.github+json"
API_VERSION = "2022-11-28"
MAX_PAGES = 300
"""30,000 comments. A longer list is an error, and reading on would cost an hour's quota."""

_TRIES = 3
_BACKOFF_S = 0.5
_NOT_YET_S = (0.5, 2.0)
_REPEATABLE = frozenset({"GET", "PUT", "DELETE"})

Variables = Mapping[str, str | int]
ResultT = TypeVar("ResultT")
log = get_logger()


@dataclass(frozen=True, slots=True)
class GitHubTransport:
    """What all identities share: the HTTP client, the API's base URL, and GitHub's clock."""

    client: AsyncClient
    base_url: str
    server: ServerClock
    cut_short: set[str] = field(default_factory=set)
    """The lists (path templates) whose `Link` led elsewhere: each is worth one line in the log."""


class Api(GitHubAPI):
    """Requests of one identity. `priority` is that of its writes; reads are always `free`.

    Writes that make no content (tokens, redeliveries) are `free` too."""

    def __init__(
        self,
        transport: GitHubTransport,
        credentials: Credentials | None,
        rate_limiter: RateLimiter,
        *,
        priority: Priority = "queue",
    ) -> None:
        super().__init__("mendbot", base_url=transport.base_url)
        self._transport = transport
        self._credentials = credentials
        self._rate_limiter = rate_limiter
        self._priority: Priority = priority

    def ahead(self) -> Api:
        """The same identity, whose writes go before those that wait: for what a person is waiting to see."""
        return Api(self._transport, self._credentials, self._rate_limiter, priority="ahead")

    async def sleep(self, seconds: float) -> None:
        await self._transport.server.clock.sleep(seconds)

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Sends one request; after a 401 again, as long as the credentials can be renewed."""
        path = _path(url, self.base_url)
        refusals = 0
        while True:
            async with self._rate_limiter.turn("free" if method == "GET" else self._priority):
                signed = {**headers, "x-github-api-version": API_VERSION}
                bearer = await self._credentials.bearer() if self._credentials else ""
                if bearer:
                    signed["authorization"] = f"Bearer {bearer}"
                self._rate_limiter.check()  # minting the token took time
                answer = await http.send(self._transport.client, method, url, signed, body)
                self._transport.server.observe(answer.headers)
                self._rate_limiter.heed(answer)
            refusals += 1
            if answer.status == 401 and self._credentials and await self._credentials.renew(bearer, answer, refusals):
                continue
            raise_for_status(method, path, answer)
            # only what gidgethub needs: its own reading of limits and charsets fails on odd values
            needed = {"content-type": "application/json; charset=utf-8"}
            if "link" in answer.headers:
                needed["link"] = answer.headers["link"]
            return answer.status, needed, answer.body

    async def call(
        self, method: str, path: str, variables: Variables, data: Any = b"", *, repeatable: bool | None = None
    ) -> Any:
        """The JSON of the response. `path` is a URI template (RFC 6570), `data` the JSON to send.

        GET, PUT, DELETE and `repeatable` requests are tried three times quickly after 5xx, timeouts and broken
        responses; others only if nothing was sent. Then raises Unclear or NotSent (both Transient). Raises NotFound
        (404), Invalid (422), Stale (410), UserError, or Transient with the time to wait for a limit."""
        for value in variables.values():
            if value in ("", ".", ".."):
                raise user_error(make_reason("github.bad_name", name=repr(value), path=path))
        may_repeat = method in _REPEATABLE if repeatable is None else repeatable

        async def once() -> Any:
            return (await self._make_request(method, path, variables, data, ACCEPT))[0]

        return await self._retry(once, may_repeat)

    async def graphql_errors(self, query: str, variables: Variables) -> str:
        """Sends a GraphQL mutation, which may be repeated; returns GitHub's errors as text, empty if it succeeded.

        GitHub Enterprise Server has its REST API at `/api/v3` and GraphQL at `/api/graphql`."""
        path = f"{self.base_url.removesuffix('/v3')}/graphql"
        answer = await self.call("POST", path, {}, {"query": query, "variables": dict(variables)}, repeatable=True)
        errors = answer.get("errors") if isinstance(answer, dict) else None
        found = errors if isinstance(errors, list) else []
        return "; ".join(str(error.get("message", error)) if isinstance(error, dict) else str(error) for error in found)

    async def get(self, path: str, variables: Variables, *, patient: bool = False) -> Any:
        """GET. With `patient`, a 404 is asked again twice, as an event may arrive before its object can be read."""
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

        A `Link` outside the API's origin is never followed: the list ends there. Raises UserError after `max_pages`
        pages."""
        following: str | None = None
        for _ in range(max_pages):
            items, following = await self.page(path, variables, following, key)
            for item in items:
                yield item
            if following is None:
                return
        raise user_error(make_reason("github.too_many_pages", path=path, limit=max_pages))

    async def page(
        self, path: str, variables: Variables, link: str | None = None, key: str | None = None
    ) -> tuple[list[Any], str | None]:
        """One page of a list, and the link of the next page if there is one; `link` comes from the page before."""

        async def once() -> tuple[Any, str | None]:
            filled = None if link else variables
            data, following, _ = await self._make_request("GET", link or path, filled, b"", ACCEPT)
            return data, following

        data, following = await self._retry(once, may_repeat=True)
        items = data.get(key) if key and isinstance(data, dict) else data
        if not isinstance(items, list):
            raise user_error(make_reason("github.not_a_list", path=path), Unclear)
        return items, None if following is None or self._leads_elsewhere(path, following) else following

    def _leads_elsewhere(self, path: str, link: str) -> bool:
        """Whether the link of a list's next page is outside the API's origin, as a proxy may write it.

        The pages before it are used all the same: a short list is better than no reply."""
        if not http.leads_elsewhere(self._transport.base_url, link):
            return False
        if path not in self._transport.cut_short:
            self._transport.cut_short.add(path)
            log.warning("next_page_elsewhere", path=path, link=link[:200], because="the list ends with this page")
        return True

    async def _retry(self, once: Callable[[], Awaitable[ResultT]], may_repeat: bool) -> ResultT:
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
