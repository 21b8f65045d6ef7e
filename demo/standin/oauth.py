"""Signing in to the App as a person: GitHub's pages for it, and the exchange of the code.

Sources: GitHub, "Generating a user access token for a GitHub App" and "Troubleshooting OAuth app access token request
errors". An error of the exchange has the status 200. The page asks who signs in, as nobody has a password here."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode

import jinja2
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from demo.standin.auth import digest
from demo.standin.sign_ins import OAuthCode, UserToken
from demo.standin.state import State

CODE_LIFE = timedelta(minutes=10)
TOKEN_LIFE = timedelta(hours=8)
_FIELDS = ("client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method")
_ERRORS = {
    "incorrect_client_credentials": "The client_id and/or client_secret passed are incorrect.",
    "redirect_uri_mismatch": "The redirect_uri MUST match the registered callback URL for this application.",
    "bad_verification_code": "The code passed is incorrect or expired.",
}


class OAuth:
    """The three steps of the web application flow."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("demo.standin", "templates"), autoescape=True, undefined=jinja2.StrictUndefined
        )

    def routes(self) -> list[Route]:
        path = "/login/oauth/authorize"
        return [
            Route(path, self._ask, methods=["GET"]),
            Route(path, self._authorize, methods=["POST"]),
            Route("/login/oauth/access_token", self._exchange, methods=["POST"]),
        ]

    async def _ask(self, request: Request) -> Response:
        fields = {name: request.query_params.get(name, "") for name in _FIELDS}
        problem = self._problem(fields)
        if problem:
            return PlainTextResponse(problem, 404)
        users = [user for user in self._state.users.values() if user.kind == "User"]
        template = self._templates.get_template("authorize.html")
        return Response(template.render(app=self._state.app, users=users, fields=fields), media_type="text/html")

    async def _authorize(self, request: Request) -> Response:
        fields = await _form(request)
        problem = self._problem(fields)
        if problem:
            return PlainTextResponse(problem, 404)
        app, code = self._state.app, secrets.token_hex(10)
        user, to = self._state.user(fields["login"]), fields.get("redirect_uri") or app.callback_urls[0]
        until = self._state.now() + CODE_LIFE
        self._state.oauth_codes[code] = OAuthCode(user, to, fields.get("code_challenge", ""), until)
        return RedirectResponse(f"{to}?{urlencode({'code': code, 'state': fields.get('state', '')})}", 302)

    def _problem(self, fields: Mapping[str, str]) -> str:
        app = self._state.app
        if fields.get("client_id") != app.client_id:
            return "Not Found"
        wanted = fields.get("redirect_uri") or next(iter(app.callback_urls), "")
        if wanted not in app.callback_urls:
            return "Invalid Redirect URI"
        if fields.get("code_challenge") and fields.get("code_challenge_method") != "S256":
            return "Invalid code_challenge_method"
        return ""

    async def _exchange(self, request: Request) -> Response:
        fields = await _form(request)
        error = self._refusal(fields)
        if error:
            body = {"error": error, "error_description": _ERRORS[error], "error_uri": "https://docs.github.com"}
            return _answer(request, body)
        code = self._state.oauth_codes.pop(fields["code"])
        text = "ghu_" + base64.urlsafe_b64encode(os.urandom(27)).decode().replace("-", "x").replace("_", "y")
        self._state.user_tokens[digest(text)] = UserToken(code.user, self._state.now() + TOKEN_LIFE)
        lifetimes = {"expires_in": 28_800, "refresh_token": "ghr_unused", "refresh_token_expires_in": 15_897_600}
        return _answer(request, {"access_token": text, **lifetimes, "scope": "", "token_type": "bearer"})

    def _refusal(self, fields: Mapping[str, str]) -> str:
        app, code = self._state.app, self._state.oauth_codes.get(fields.get("code", ""))
        secret = fields.get("client_secret", "")
        if fields.get("client_id") != app.client_id or not hmac.compare_digest(secret, app.client_secret):
            return "incorrect_client_credentials"
        if code is None or code.expires_at <= self._state.now():
            return "bad_verification_code"
        if fields.get("redirect_uri", code.redirect_uri) != code.redirect_uri:
            return "redirect_uri_mismatch"
        if code.challenge and not hmac.compare_digest(_challenge(fields.get("code_verifier", "")), code.challenge):
            return "bad_verification_code"
        return ""


async def _form(request: Request) -> dict[str, str]:
    return dict(parse_qsl((await request.body()).decode()))


def _answer(request: Request, body: Mapping[str, object]) -> Response:
    """JSON for who accepts it, else a form, as on GitHub."""
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse(body)
    return PlainTextResponse(urlencode(body), media_type="application/x-www-form-urlencoded")


def _challenge(verifier: str) -> str:
    """RFC 7636, section 4.2."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
