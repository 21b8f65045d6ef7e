"""Signed cookies that hold who is signed in in a browser, and the tokens of their forms (docs/decisions/0118).

The key is derived from the admin token: a new token ends all sessions, and no session is stored on the server."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import jwt
from starlette.responses import Response

LIFETIME_S = 12 * 3600
_VISIT_LIFETIME_S = 3600
SIGN_IN_LIFETIME_S = 600
"""GitHub's code works for ten minutes, and so does the state that goes with it."""
_AUDIENCE = "mendbot-pages"
_SIGN_IN_AUDIENCE = "mendbot-sign-in"
_ALGORITHM = "HS256"


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser's session: of a `visitor` who has not signed in, of the `operator`, who signed in with the admin token,
    or of a `person`, who signed in with GitHub as `login`."""

    id: str
    kind: str
    login: str = ""

    @property
    def signed_in(self) -> bool:
        return self.kind != "visitor"

    @property
    def is_operator(self) -> bool:
        """Whether the session may do everything that the admin token may."""
        return self.kind == "operator"


class BrowserSessions:
    """Begins, reads and ends sessions in cookies. `secure` is whether browsers reach the pages over HTTPS."""

    def __init__(self, admin_token: str, *, secure: bool) -> None:
        self._key = hmac.new(admin_token.strip().encode(), b"mendbot browser sessions", sha256).digest()
        self._secure = secure
        self.cookie = "__Host-mendbot" if secure else "mendbot"
        self._sign_in_cookie = f"{self.cookie}-sign-in"

    def visitor(self) -> BrowserSession:
        """A new session of somebody who has not signed in, for the token of the sign-in form."""
        return BrowserSession(secrets.token_urlsafe(18), "visitor")

    def operator(self) -> BrowserSession:
        """A new session of somebody who knows the admin token."""
        return BrowserSession(secrets.token_urlsafe(18), "operator")

    def person(self) -> BrowserSession:
        """A new session of somebody who signs in with GitHub; their login is not known yet."""
        return BrowserSession(secrets.token_urlsafe(18), "person")

    def read(self, cookies: Mapping[str, str]) -> BrowserSession | None:
        """The session of a request's cookies; None without one, and for one that is expired or not signed by us."""
        claims = self._claims(cookies.get(self.cookie, ""), _AUDIENCE)
        if claims is None or "kind" not in claims:
            return None
        return BrowserSession(str(claims["jti"]), str(claims["kind"]), str(claims.get("login", "")))

    def write(self, response: Response, session: BrowserSession) -> None:
        """Store the session in the browser for 12 hours, or for one where nobody is signed in."""
        lifetime = LIFETIME_S if session.signed_in else _VISIT_LIFETIME_S
        claims = {"jti": session.id, "kind": session.kind, "login": session.login, "aud": _AUDIENCE}
        self._set(response, self.cookie, claims, lifetime)

    def clear(self, response: Response) -> None:
        """Delete the session from the browser."""
        self._delete(response, self.cookie)

    def begin_sign_in(self, response: Response, state: str, path: str) -> None:
        """Store in the browser that it signs in with GitHub, with this state, and wants that page then."""
        claims = {"jti": state, "path": path, "aud": _SIGN_IN_AUDIENCE}
        self._set(response, self._sign_in_cookie, claims, SIGN_IN_LIFETIME_S)

    def end_sign_in(self, response: Response) -> None:
        """Delete the state from the browser, so that it is used once."""
        self._delete(response, self._sign_in_cookie)

    def wanted_page(self, cookies: Mapping[str, str], state: str) -> str | None:
        """The page that the browser wants which signs in with this state; None if it does not."""
        claims = self._claims(cookies.get(self._sign_in_cookie, ""), _SIGN_IN_AUDIENCE)
        if claims is None or not hmac.compare_digest(str(claims["jti"]).encode(), state.encode("utf-8", "replace")):
            return None
        return str(claims.get("path", "/"))

    def verifier(self, state: str) -> str:
        """PKCE's secret for that state, which no browser knows (RFC 7636: 43 characters or more)."""
        return hmac.new(self._key, f"verifier {state}".encode(), sha256).hexdigest()

    def _claims(self, text: str, audience: str) -> dict[str, Any] | None:
        if not text or len(text) > 4096:
            return None
        try:
            return jwt.decode(
                text, self._key, algorithms=[_ALGORITHM], audience=audience, options={"require": ["exp", "jti"]}
            )
        except jwt.InvalidTokenError:
            return None

    def _set(self, response: Response, name: str, claims: Mapping[str, str], lifetime: int) -> None:
        text = jwt.encode({**claims, "exp": int(time.time()) + lifetime}, self._key, algorithm=_ALGORITHM)
        response.set_cookie(name, text, max_age=lifetime, path="/", secure=self._secure, httponly=True, samesite="lax")

    def _delete(self, response: Response, name: str) -> None:
        response.delete_cookie(name, path="/", secure=self._secure, httponly=True, samesite="lax")

    def form_token(self, session: BrowserSession) -> str:
        """The token that each form and each write of this session carries, against requests of other sites (CSRF)."""
        return hmac.new(self._key, f"form {session.id}".encode(), sha256).hexdigest()

    def is_form_token(self, session: BrowserSession, token: str) -> bool:
        """Whether it is the token of this session, compared in constant time."""
        return hmac.compare_digest(self.form_token(session).encode(), token.encode("utf-8", "replace"))
