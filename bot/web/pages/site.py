"""What all pages share: who looks at them, the form token of each write, security headers, and pages for errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from bot.errors import Transient, UserError
from bot.model import Language
from bot.model.reasons import Reason
from bot.reports.locale.catalog import has_message
from bot.reports.locale.reasons import error_text, reason_text
from bot.rules.reasons import make_reason
from bot.web.api import Guard, UnreadableBody, content_type, error_response, is_cross_site, no_route, read_body
from bot.web.browser_sessions import BrowserSession
from bot.web.pages.rendering import Templates
from bot.web.pages.static_files import StaticFiles
from bot.web.viewers import Viewer, Viewers

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Nothing of another site is loaded, no page is framed, and no inline script or style runs."""

MAX_FORM_FIELDS = 100

NAVIGATION = (
    ("/", "pages.nav.dashboard", "everybody"),
    ("/runs", "pages.runs", "everybody"),
    ("/sessions/new", "pages.session.new", "writers"),
    ("/groups", "pages.groups.title", "everybody"),
    ("/history", "pages.history.title", "everybody"),
    ("/deliveries", "pages.nav.deliveries", "operator"),
    ("/setup", "pages.setup.title", "operator"),
)
"""The pages of the navigation: address, title, and who has a use for them."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of a viewer. `form` are the fields of the form that was sent."""

    request: Request
    viewer: Viewer
    form: Mapping[str, str] = field(default_factory=dict)


PageEndpoint = Callable[[Visit], Awaitable[Response]]


class NotFound(Exception):
    """There is no such page, or the viewer may not see it."""


class Forbidden(Exception):
    """The viewer may see this but not act on it."""


class Site:
    """Renders pages and guards them."""

    def __init__(self, guard: Guard, viewers: Viewers, language: Language) -> None:
        self.guard = guard
        self.viewers = viewers
        self.sessions = viewers.sessions
        self.language: Language = language
        self.static = StaticFiles()
        self._templates = Templates(language, self.static)

    def page(self, endpoint: PageEndpoint) -> Callable[[Request], Awaitable[Response]]:
        """A page for those who are signed in; others are sent to the sign-in page."""

        async def guarded_page(request: Request) -> Response:
            try:
                viewer = await self.viewers.find(request)
            except Transient as error:
                return self._error(request, 503, error_text(error, self.language), None)
            if viewer is None:
                return to_sign_in(request)
            return await self._handle_errors(endpoint, Visit(request, viewer))

        return guarded_page

    def action(self, endpoint: PageEndpoint) -> Callable[[Request], Awaitable[Response]]:
        """A form's target, for those who are signed in and whose form has the session's token."""

        async def guarded_action(request: Request) -> Response:
            try:
                viewer = await self.viewers.find(request)
            except Transient as error:
                return self._error(request, 503, error_text(error, self.language), None)
            if viewer is None:
                return redirect("/login")
            try:
                form = await self.read_form(request, viewer.session)
            except UnreadableBody as error:
                return self.error(request, error.status, error.reason, viewer)
            return await self._handle_errors(endpoint, Visit(request, viewer, form))

        return guarded_action

    async def read_form(self, request: Request, session: BrowserSession | None) -> dict[str, str]:
        """The fields of a form, without its token. Raises UnreadableBody for one of another site or session."""
        if is_cross_site(request.headers):
            raise UnreadableBody(403, make_reason("request.other_site"))
        if content_type(request) != "application/x-www-form-urlencoded":
            raise UnreadableBody(415, make_reason("request.form_type"))
        body = await read_body(request)
        try:
            fields = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS))
        except ValueError:
            raise UnreadableBody(400, make_reason("request.form_type")) from None
        token = fields.pop("csrf", "")
        if session is None or not self.sessions.is_form_token(session, token):
            raise UnreadableBody(403, make_reason("request.no_form_token"))
        return fields

    def render(
        self, request: Request, template: str, viewer: Viewer | None, status: int = 200, /, **values: Any
    ) -> Response:
        """The page of that template, with the headers of all pages."""
        session = viewer.session if viewer is not None else None
        shared = {
            "viewer": viewer,
            "csrf": self.sessions.form_token(session) if session is not None else "",
            "path": request.url.path,
            "navigation": navigation(viewer) if viewer is not None else (),
        }
        text = self._templates.render(template, {**shared, **values})
        # names and logs may hold a lone surrogate, which UTF-8 may not
        return Response(text.encode("utf-8", "replace"), status, HEADERS, "text/html; charset=utf-8")

    def error(self, request: Request, status: int, reason: Reason, viewer: Viewer | None) -> Response:
        """A page that says why a request failed."""
        return self._error(request, status, reason_text(reason, self.language), viewer)

    def _error(self, request: Request, status: int, text: str, viewer: Viewer | None) -> Response:
        title = f"pages.error.{status}" if has_message(f"pages.error.{status}") else "pages.error.other"
        return self.render(request, "error.html", viewer, status, title=title, text=text)

    async def _handle_errors(self, endpoint: PageEndpoint, visit: Visit) -> Response:
        request, viewer = visit.request, visit.viewer
        try:
            return await endpoint(visit)
        except NotFound:
            return self.error(request, 404, make_reason("request.no_path"), viewer)
        except Forbidden:
            return self.error(request, 403, make_reason("request.read_only"), viewer)
        except UserError as error:
            return self._error(request, 422, error_text(error, self.language), viewer)
        except Transient as error:
            return self._error(request, 503, error_text(error, self.language), viewer)
        except ClientDisconnect:
            return Response(status_code=400)  # the client has gone

    async def no_route(self, request: Request, error: Exception) -> Response:
        """Answer an unknown path or method: a page for browsers, JSON for programs."""
        assert isinstance(error, HTTPException)
        if not wants_page(request):
            return await no_route(request, error)
        try:
            viewer = await self.viewers.find(request)
        except Transient:
            viewer = None
        return self.error(request, error.status_code, make_reason("request.no_path"), viewer)

    async def internal_error(self, request: Request, _: Exception) -> Response:
        """Answer a request that ended in an error of ours, whose traceback the server logs."""
        reason = make_reason("request.internal")
        return self.error(request, 500, reason, None) if wants_page(request) else error_response(500, reason)


def navigation(viewer: Viewer) -> Sequence[tuple[str, str]]:
    """The pages that the viewer has a use for: address and title."""
    useful = {"everybody": True, "writers": viewer.writes_somewhere, "operator": viewer.is_operator}
    return [(address, title) for address, title, audience in NAVIGATION if useful[audience]]


def wants_page(request: Request) -> bool:
    """Whether a browser asks for a page: it names HTML in `Accept`, and the path is none of the API."""
    is_api = request.url.path.startswith(("/api/", "/static/"))
    return not is_api and request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")


def redirect(path: str) -> Response:
    """Send the browser to a path of this server, which it gets with GET."""
    return RedirectResponse(path, 303, HEADERS)


def to_sign_in(request: Request) -> Response:
    """Send the browser to the sign-in page, and back to this page after it."""
    query = f"?{request.url.query}" if request.url.query else ""
    return redirect(f"/login?next={quote(request.url.path + query, safe='')}")


def safe_path(text: str) -> str:
    """The path if it is one of this server, else `/`: a link to the sign-in page must not lead to another site."""
    has_odd_characters = "\\" in text or any(character <= " " or character == "\x7f" for character in text)
    if has_odd_characters or not text.startswith("/") or text.startswith("//"):
        return "/"
    try:
        parts = urlsplit(text)
    except ValueError:
        return "/"
    return text if not parts.scheme and not parts.netloc else "/"
