"""Signing in with GitHub: the way to GitHub's page, and the way back with its code (T45).

The state belongs to one browser by a cookie of ten minutes. PKCE's secret is derived from the state."""

from __future__ import annotations

import re
import secrets
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.errors import Transient, UserError
from bot.model.reasons import Reason
from bot.rules.reasons import error_reason, make_reason
from bot.web.pages.sign_in import FailureLimit, client_address
from bot.web.pages.site import HEADERS, Site, redirect, safe_path
from bot.web.viewers import People

START = "/sign-in/github"
MAX_PATH = 1000
"""Characters of the wanted page, which a cookie has to hold."""
_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}\Z")


class GitHubSignIn:
    """The two pages. A code that GitHub refuses counts for its address, as a wrong token does for the other page.

    A wrong state does not: it costs nothing, and a page of another site could send them in somebody's browser."""

    def __init__(self, site: Site, people: People, limit: FailureLimit) -> None:
        self._site = site
        self._people = people
        self._limit = limit

    def routes(self) -> list[Route]:
        return [
            Route(START, self.begin, methods=["GET"]),
            Route(f"{START}/callback", self.finish, methods=["GET"]),
        ]

    async def begin(self, request: Request) -> Response:
        """Send the browser to GitHub, with a new state."""
        state = secrets.token_urlsafe(24)
        address = self._people.address(state, self._site.sessions.verifier(state))
        response = RedirectResponse(address, 303, HEADERS)
        path = safe_path(request.query_params.get("next", "/"))
        self._site.sessions.begin_sign_in(response, state, path if len(path) <= MAX_PATH else "/")
        return response

    async def finish(self, request: Request) -> Response:
        """Sign in the person whom GitHub sent back, and show the page that they wanted."""
        address, sessions = client_address(request), self._site.sessions
        if wait_s := self._limit.wait_s(address):
            response = self._problem(request, 429, make_reason("request.sign_in_wait", seconds=wait_s))
            response.headers["Retry-After"] = str(wait_s)
            return response
        query = request.query_params
        state, code = query.get("state", ""), query.get("code", "")
        path = sessions.wanted_page(request.cookies, state)
        if path is None:
            return self._problem(request, 400, make_reason("sign_in.state"))
        if not _CODE.match(code):
            return self._problem(request, 403, make_reason("sign_in.denied"))
        session = sessions.person()
        try:
            login = await self._people.sign_in(session.id, code, sessions.verifier(state))
        except Transient as error:
            return self._problem(request, 503, error_reason(error))
        except UserError as error:
            self._limit.failed(address)
            return self._problem(request, 403, error_reason(error))
        self._limit.succeeded(address)
        response = redirect(path)
        sessions.end_sign_in(response)
        sessions.write(response, replace(session, login=login))
        return response

    def _problem(self, request: Request, status: int, reason: Reason) -> Response:
        response = self._site.error(request, status, reason, None)
        self._site.sessions.end_sign_in(response)
        return response
