"""Signing in with GitHub, in a browser without JavaScript (T45)."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from bot.web.pages.sign_in import MAX_FAILURES
from demo.standin.server import StandIn
from tests.web.conftest import TOKEN, Answer, Door
from tests.web.pages.client import Client
from tests.web.people import served_people


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Door, StandIn]]:
    with served_people(tmp_path_factory.mktemp("people")) as served:
        yield served


@pytest.fixture
def browser(served: tuple[Door, StandIn]) -> Client:
    return Client(served[0].port)


def test_a_person_signs_in_and_out(browser: Client) -> None:
    assert 'href="/sign-in/github?next=/runs/story"' in browser.get("/login?next=/runs/story").text
    answer = browser.get(browser.agree("reader", "/runs/story"))
    assert (answer.status, answer.headers["location"]) == (303, "/runs/story")
    page = browser.get("/runs/story").text
    assert "The total is wrong" in page and '<span class="muted">reader</span>' in page
    cookies = dict(browser.cookies)
    assert browser.submit("/", "/logout").headers["location"] == "/login"
    browser.cookies = cookies  # a copy of the cookie
    assert browser.get("/runs/story").headers["location"] == "/login?next=%2Fruns%2Fstory"


def test_no_cookie_and_no_page_holds_a_token(browser: Client, served: tuple[Door, StandIn]) -> None:
    browser.get(browser.agree("writer"))
    told = " ".join(
        [*browser.cookies.values(), *browser.set_cookies, browser.get("/").text, browser.get("/login").text]
    )
    assert "ghu_" not in told and served[1].client_secret not in told and TOKEN not in told
    assert all("HttpOnly" in line and "SameSite=lax" in line for line in browser.set_cookies)


def test_the_way_to_github_has_a_state_and_a_challenge(browser: Client, served: tuple[Door, StandIn]) -> None:
    seen = [browser.get("/sign-in/github").headers["location"] for _ in range(2)]
    fields = [parse_qs(urlsplit(address).query) for address in seen]
    assert all(address.startswith(f"{served[1].url}/login/oauth/authorize?") for address in seen)
    assert fields[0]["state"] != fields[1]["state"] and fields[0]["code_challenge_method"] == ["S256"]
    assert fields[0]["redirect_uri"] == [f"http://127.0.0.1:{served[0].port}/sign-in/github/callback"]
    assert fields[0]["code_challenge"][0] not in " ".join(browser.cookies.values())


@pytest.mark.parametrize("path", ["//evil.example", "https://evil.example/", "/\\evil.example", "", "/" + "x" * 5000])
def test_signing_in_never_leads_to_another_site(browser: Client, path: str) -> None:
    assert browser.get(browser.agree("reader", path)).headers["location"] == "/"


def test_a_code_of_another_browser_is_refused(browser: Client, served: tuple[Door, StandIn]) -> None:
    back = browser.agree("writer")
    other = Client(browser.port)
    assert other.get(back).status == 400  # it has no state
    other.get("/sign-in/github")
    assert other.get(back).status == 400  # it has another one
    assert other.get("/").status == 303
    assert browser.get(back).status == 303 and browser.get("/").status == 200
    assert browser.get(back).status == 400  # a state is used once


def test_who_does_not_agree_is_not_signed_in(browser: Client) -> None:
    address = browser.get("/sign-in/github").headers["location"]
    state = parse_qs(urlsplit(address).query)["state"][0]
    answer = browser.get(f"/sign-in/github/callback?error=access_denied&error_description=%3Cb%3E&state={state}")
    assert answer.status == 403 and "agree to it" in answer.text and "<b>" not in answer.text
    assert browser.get("/").status == 303


def test_an_unknown_code_is_refused_and_attempts_are_limited(browser: Client) -> None:
    def refused() -> Answer:
        state = parse_qs(urlsplit(browser.get("/sign-in/github").headers["location"]).query)["state"][0]
        return browser.get(f"/sign-in/github/callback?code=unknown&state={state}")

    answer = refused()
    assert answer.status == 403 and "sign in again" in answer.text
    assert browser.sign_in_as("reader").status == 303  # forgets earlier failures
    for _ in range(2 * MAX_FAILURES):  # of another site's page, in a browser that does not sign in
        assert Client(browser.port).get("/sign-in/github/callback?code=x&state=x").status == 400
    assert [refused().status for _ in range(MAX_FAILURES + 1)] == [403] * MAX_FAILURES + [429]
    assert browser.sign_in_as("reader").status == 429
    assert Client(browser.port).sign_in().status == 303  # the operator is not locked out
