"""Signing in with the admin token or with GitHub, and signing out."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.errors import Transient
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.web.api import UnreadableBody
from bot.web.pages.site import Site, Visit, redirect, safe_path

MAX_FAILURES = 10
"""Wrong tokens of one address within the window; then no token of it is compared until the window ends."""
WINDOW_S = 300.0
MAX_ADDRESSES = 10_000


class FailureLimit:
    """Counts wrong tokens by the address that they come from, in a window of five minutes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: dict[str, tuple[float, int]] = {}

    def wait_s(self, address: str) -> int:
        """How many seconds this address must wait before its next token is compared; 0 if it need not."""
        began, count = self._counts.get(address, (0.0, 0))
        left = began + WINDOW_S - self._clock()
        return max(1, round(left)) if count >= MAX_FAILURES and left > 0 else 0

    def failed(self, address: str) -> None:
        """Count a wrong token."""
        now = self._clock()
        began, count = self._counts.pop(address, (now, 0))
        self._counts[address] = (began, count + 1) if now - began < WINDOW_S else (now, 1)
        while len(self._counts) > MAX_ADDRESSES:
            del self._counts[next(iter(self._counts))]

    def succeeded(self, address: str) -> None:
        """Forget the wrong tokens of an address."""
        self._counts.pop(address, None)


def client_address(request: Request) -> str:
    """The address that a request comes from; that of the proxy where one stands before the server."""
    return request.client.host if request.client is not None else ""


class TokenSignIn:
    """The pages `/login` and `/logout`."""

    def __init__(self, site: Site, limit: FailureLimit) -> None:
        self._site = site
        self._limit = limit

    def routes(self) -> list[Route]:
        return [
            Route("/login", self.show, methods=["GET"]),
            Route("/login", self.sign_in, methods=["POST"]),
            Route("/logout", self._site.action(self.sign_out), methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        path = safe_path(request.query_params.get("next", "/"))
        with suppress(Transient):  # GitHub may not answer; the operator can sign in all the same
            if await self._site.viewers.find(request) is not None:
                return redirect(path)
        return self._form(request, path)

    async def sign_in(self, request: Request) -> Response:
        address = client_address(request)
        try:
            form = await self._site.read_form(request, self._site.sessions.read(request.cookies))
        except UnreadableBody as error:
            # no new cookie: a form of another site must not sign anybody out
            return self._site.error(request, error.status, error.reason, None)
        path = safe_path(form.get("next", "/"))
        if wait_s := self._limit.wait_s(address):
            response = self._form(request, path, 429, make_reason("request.sign_in_wait", seconds=wait_s))
            response.headers["Retry-After"] = str(wait_s)
            return response
        if not self._site.guard.is_token(form.get("token", "").encode("utf-8", "replace")):
            self._limit.failed(address)
            return self._form(request, path, 401, make_reason("request.wrong_token"))
        self._limit.succeeded(address)
        response = redirect(path)
        self._site.sessions.write(response, self._site.sessions.operator())
        return response

    async def sign_out(self, visit: Visit) -> Response:
        if self._site.viewers.people is not None:
            self._site.viewers.people.sign_out(visit.viewer.session.id)
        response = redirect("/login")
        self._site.sessions.clear(response)
        return response

    def _form(self, request: Request, path: str, status: int = 200, problem: Reason | None = None) -> Response:
        sessions = self._site.sessions
        known = sessions.read(request.cookies)
        session = known if known is not None and not known.signed_in else sessions.visitor()
        values = {"csrf": sessions.form_token(session), "next": path, "problem": problem}
        with_github = self._site.viewers.people is not None
        response = self._site.render(request, "login.html", None, status, with_github=with_github, **values)
        sessions.write(response, session)
        return response
