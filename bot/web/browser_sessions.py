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
_AUDIENCE = "mendbot-pages"
_ALGORITHM = "HS256"


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser's session. `login` is empty for the operator, who signed in with the admin token, and for a visitor."""

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

    def visitor(self) -> BrowserSession:
        """A new session of somebody who has not signed in, for the token of the sign-in form."""
        return BrowserSession(secrets.token_urlsafe(18), "visitor")

    def operator(self) -> BrowserSession:
        """A new session of somebody who knows the admin token."""
        return BrowserSession(secrets.token_urlsafe(18), "operator")

    def read(self, cookies: Mapping[str, str]) -> BrowserSession | None:
        """The session of a request's cookies; None without one, and for one that is expired or not signed by us."""
        text = cookies.get(self.cookie, "")
        if not text or len(text) > 4096:
            return None
        try:
            claims: dict[str, Any] = jwt.decode(
                text, self._key, algorithms=[_ALGORITHM], audience=_AUDIENCE, options={"require": ["exp", "jti"]}
            )
            return BrowserSession(str(claims["jti"]), str(claims["kind"]), str(claims.get("login", "")))
        except (jwt.InvalidTokenError, KeyError):
            return None

    def write(self, response: Response, session: BrowserSession) -> None:
        """Store the session in the browser for 12 hours, or for one where nobody is signed in."""
        lifetime = LIFETIME_S if session.signed_in else _VISIT_LIFETIME_S
        claims = {"jti": session.id, "kind": session.kind, "login": session.login, "aud": _AUDIENCE}
        text = jwt.encode({**claims, "exp": int(time.time()) + lifetime}, self._key, algorithm=_ALGORITHM)
        response.set_cookie(
            self.cookie, text, max_age=lifetime, path="/", secure=self._secure, httponly=True, samesite="lax"
        )

    def clear(self, response: Response) -> None:
        """Delete the session from the browser."""
        response.delete_cookie(self.cookie, path="/", secure=self._secure, httponly=True, samesite="lax")

    def form_token(self, session: BrowserSession) -> str:
        """The token that each form and each write of this session carries, against requests of other sites (CSRF)."""
        return hmac.new(self._key, f"form {session.id}".encode(), sha256).hexdigest()

    def is_form_token(self, session: BrowserSession, token: str) -> bool:
        """Whether it is the token of this session, compared in constant time."""
        return hmac.compare_digest(self.form_token(session).encode(), token.encode("utf-8", "replace"))
