"""A browser without JavaScript: it keeps cookies, reads forms and follows no redirect by itself."""

from __future__ import annotations

import http.client
import json
import re
from html import unescape
from urllib.parse import parse_qsl, quote, urlencode

import httpx2

from tests.machine import PATIENCE_S
from tests.web.conftest import TOKEN, Answer

_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


def fields_of(text: str) -> dict[str, str]:
    """The names and values of the visible fields of a page's form."""
    fields = dict(re.findall(r'<input id="\w+" name="(\w+)"[^>]*? value="([^"]*)"', text))
    fields |= dict(re.findall(r'<textarea id="\w+" name="(\w+)"[^>]*>\n(.*?)</textarea>', text, re.S))
    return {name: unescape(value) for name, value in fields.items()}


class Client:
    """One browser at a server on loopback."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookies: dict[str, str] = {}
        self.set_cookies: list[str] = []

    def get(self, path: str, **headers: str) -> Answer:
        return self._send("GET", path, None, headers)

    def post(self, path: str, fields: dict[str, str], **headers: str) -> Answer:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._send("POST", path, urlencode(fields).encode(), kind | headers)

    def post_json(self, path: str, body: object, **headers: str) -> Answer:
        return self._send("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"} | headers)

    def submit(self, page: str, path: str, **fields: str) -> Answer:
        """Fill the form of a page that is sent to this path, with its hidden fields, and send it."""
        text = self.get(page).text
        forms = (form for form in re.findall(r"<form.*?</form>", text, re.S) if f'action="{path}"' in form)
        hidden = {name: unescape(value) for name, value in _HIDDEN.findall(next(forms))}
        return self.post(path, hidden | fields)

    def sign_in(self, token: str = TOKEN) -> Answer:
        return self.submit("/login", "/login", token=token)

    def agree(self, login: str, path: str = "/") -> str:
        """Go to GitHub's page and agree as that person; returns the path with which GitHub sends the browser back."""
        address = self.get(f"/sign-in/github?next={quote(path, safe='')}").headers["location"]
        assert httpx2.get(address).status_code == 200, address
        page, _, query = address.partition("?")
        back = httpx2.post(page, data={**dict(parse_qsl(query)), "login": login}).headers["location"]
        assert back.startswith(f"http://127.0.0.1:{self.port}/")
        return back.removeprefix(f"http://127.0.0.1:{self.port}")

    def sign_in_as(self, login: str) -> Answer:
        """Sign in with GitHub as that person."""
        return self.get(self.agree(login))

    def form_token(self) -> str:
        """The token of this session's forms; empty where nobody is signed in."""
        return self.get("/nowhere").text.partition('name="csrf" value="')[2].partition('"')[0]

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        known = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        if self.cookies:
            known["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        try:
            connection.request(method, path, body, known | {k.replace("_", "-"): v for k, v in headers.items()})
            got = connection.getresponse()
            self.set_cookies = got.headers.get_all("Set-Cookie") or []
            for line in self.set_cookies:
                name, _, value = line.partition(";")[0].partition("=")
                self.cookies[name] = value.strip('"')
            return Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read().decode())
        finally:
            connection.close()
