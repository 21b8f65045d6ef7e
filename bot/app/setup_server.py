"""The server of `mendbot setup`: a page with the form for GitHub, and the address to which GitHub sends the browser.

It listens on loopback and ends when the App is made."""

from __future__ import annotations

import asyncio
import html
import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bot.app.app_creation import AppCreation, AppWishes
from bot.errors import MendbotError
from bot.github.app_manifest import NewApp
from bot.model import Language
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import error_text
from bot.web.server import server

_HEADERS = {
    # browsers apply `form-action` to redirects, too, and GitHub may lead through its sign-in page
    "content-security-policy": "; ".join(("default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'")),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


class SetupServer:
    """Serves the form and waits for the browser to return from GitHub."""

    def __init__(self, creation: AppCreation, wishes: AppWishes, listener: socket.socket, language: Language) -> None:
        self._creation = creation
        self._wishes = wishes
        self._listener = listener
        self._language = language
        self._app: NewApp | None = None
        routes = [Route("/", self._form), Route("/callback", self._callback)]
        self._server: uvicorn.Server = server(Starlette(routes=routes))

    @property
    def address(self) -> str:
        """The address of the page with the form."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    async def run(self, on_ready: Callable[[], None] = lambda: None) -> NewApp | None:
        """Serve until the App is made, and return it; None if the process was asked to stop before."""
        serving = asyncio.create_task(self._server.serve(sockets=[self._listener]))
        on_ready()
        await serving
        return self._app

    async def _form(self, request: Request) -> Response:
        try:
            form = self._creation.begin(self._wishes, f"{self.address}/callback")
        except MendbotError as error:
            return self._page(html.escape(error_text(error, self._language)), 409)
        manifest, action = html.escape(form.manifest), html.escape(form.action)
        return self._page(
            f"<p>{html.escape(t(self._language, 'setup.page.begin'))}</p>"
            f'<form method="post" action="{action}"><input type="hidden" name="manifest" value="{manifest}">'
            f"<button>{html.escape(t(self._language, 'setup.page.button'))}</button></form>"
        )

    async def _callback(self, request: Request) -> Response:
        query = request.query_params
        try:
            app = await self._creation.finish(query.get("code", ""), query.get("state", ""))
        except MendbotError as error:
            again = f'<p><a href="/">{html.escape(t(self._language, "setup.page.again"))}</a></p>'
            return self._page(f"<p>{html.escape(error_text(error, self._language))}</p>{again}", 400)
        self._app = app
        self._server.should_exit = True
        install = html.escape(f"{app.html_url}/installations/new")
        done = html.escape(t(self._language, "setup.page.done", name=app.name))
        return self._page(
            f'<p>{done}</p><p><a href="{install}">{html.escape(t(self._language, "setup.page.install"))}</a></p>'
        )

    def _page(self, content: str, status: int = 200) -> HTMLResponse:
        title = html.escape(t(self._language, "setup.page.title"))
        text = (
            f'<!doctype html><html lang="{self._language}"><meta charset="utf-8"><title>{title}</title>'
            f"<main><h1>{title}</h1>{content}</main></html>"
        )
        return HTMLResponse(text, status, headers=_HEADERS)
