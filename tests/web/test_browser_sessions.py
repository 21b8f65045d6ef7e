"""Sessions in cookies: only this server's own are read, and each form belongs to one session."""

from __future__ import annotations

import time

import jwt
import pytest
from starlette.responses import Response

from bot.web.browser_sessions import LIFETIME_S, BrowserSession, BrowserSessions

TOKEN = "admin-token-0123456789"


def written(sessions: BrowserSessions, session: BrowserSession) -> tuple[str, str]:
    """The cookie's value, and its whole line."""
    response = Response()
    sessions.write(response, session)
    line = response.headers["set-cookie"]
    return line.partition(";")[0].partition("=")[2], line


def test_a_written_session_is_read_again() -> None:
    sessions = BrowserSessions(TOKEN, secure=False)
    session = sessions.operator()
    value, line = written(sessions, session)
    assert sessions.read({"mendbot": value}) == session
    assert session.signed_in and session.is_operator and not sessions.visitor().signed_in
    for part in ("HttpOnly", "SameSite=lax", f"Max-Age={LIFETIME_S}", "Path=/"):
        assert part in line
    assert "Secure" not in line and TOKEN not in line


def test_over_https_the_cookie_is_secure_and_bound_to_the_host() -> None:
    sessions = BrowserSessions(TOKEN, secure=True)
    value, line = written(sessions, sessions.operator())
    assert line.startswith("__Host-mendbot=") and "Secure" in line and "Domain" not in line
    assert sessions.read({"mendbot": value}) is None


@pytest.mark.parametrize("change", ["other token", "cut", "none", "expired", "audience", "long"])
def test_no_other_cookie_is_a_session(change: str) -> None:
    sessions = BrowserSessions(TOKEN, secure=False)
    value, _ = written(sessions, sessions.operator())
    claims = {"jti": "x", "kind": "operator", "login": "", "aud": "mendbot-pages", "exp": int(time.time()) + 60}
    match change:
        case "other token":
            value, _ = written(BrowserSessions(TOKEN + "x", secure=False), sessions.operator())
        case "cut":
            value = value[:-2]
        case "none":
            value = jwt.encode(claims, None, algorithm="none")
        case "expired":
            value = jwt.encode({**claims, "exp": 1}, sessions._key, algorithm="HS256")
        case "audience":
            value = jwt.encode({**claims, "aud": "another"}, sessions._key, algorithm="HS256")
        case "long":
            value = value + "x" * 5000
    assert sessions.read({"mendbot": value}) is None
    assert sessions.read({}) is None


def test_a_form_token_is_of_one_session_and_one_admin_token() -> None:
    sessions = BrowserSessions(TOKEN, secure=False)
    mine, other = sessions.operator(), sessions.operator()
    token = sessions.form_token(mine)
    assert sessions.is_form_token(mine, token)
    assert not sessions.is_form_token(other, token)
    assert not BrowserSessions("another", secure=False).is_form_token(mine, token)
    assert not any(sessions.is_form_token(mine, text) for text in ("", token[:-1], token + "0", "ü", "\ud800"))
