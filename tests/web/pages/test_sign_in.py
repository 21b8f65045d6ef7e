"""Signing in with the admin token, and what a session may do then."""

from __future__ import annotations

import pytest

from bot.web.pages.sign_in import MAX_ADDRESSES, MAX_FAILURES, WINDOW_S, FailureLimit
from tests.web.conftest import TOKEN, Door
from tests.web.pages.client import Client

GOOD = b'{"repo": "/nowhere", "task": "fix it", "testCommand": "true"}'


def test_the_token_signs_in_and_leads_to_the_page_that_was_wanted(visitor: Client) -> None:
    answer = visitor.submit("/login?next=%2Fdeliveries%3Frefused%3D1", "/login", token=TOKEN)
    assert (answer.status, answer.headers["location"]) == (303, "/deliveries?refused=1")
    assert visitor.get("/login?next=/deliveries").headers["location"] == "/deliveries"


@pytest.mark.parametrize(
    "next_page", ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:x", ""]
)
def test_signing_in_never_leads_to_another_site(visitor: Client, next_page: str) -> None:
    answer = visitor.submit("/login", "/login", token=TOKEN, next=next_page)
    assert (answer.status, answer.headers["location"]) == (303, "/")


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "ü"])
def test_no_other_token_signs_in(door: Door, token: str) -> None:
    visitor = Client(door.port)
    answer = visitor.sign_in(token)
    assert answer.status == 401 and "not the admin token" in answer.text
    assert door.request("GET", "/api/sessions", None, {"Cookie": _cookies(visitor)}).status == 401
    assert visitor.sign_in().status == 303  # forgets the failures of this address


def test_a_form_of_another_site_or_session_does_not_sign_in(door: Door) -> None:
    visitor, other = Client(door.port), Client(door.port)
    assert visitor.post("/login", {"token": TOKEN}).status == 403
    visitor.get("/login")
    assert visitor.post("/login", {"token": TOKEN, "csrf": "x"}).status == 403
    assert other.submit("/login", "/login", token=TOKEN, csrf="x").status == 403
    assert visitor.post("/login", {"token": TOKEN}, Origin="https://evil.example").status == 403
    assert visitor.post("/login", {}, Content_Type="text/plain").status == 415
    assert visitor.set_cookies == []  # nobody is signed out by a form of another site


def test_a_session_reads_the_api_and_writes_with_its_form_token_alone(door: Door, operator: Client) -> None:
    cookie = {"Cookie": _cookies(operator)}
    assert door.request("GET", "/api/sessions", None, cookie).status == 200
    known = {**cookie, "Content-Type": "application/json"}
    assert door.request("POST", "/api/sessions", GOOD, known).status == 403
    assert door.request("POST", "/api/sessions", GOOD, {**known, "X-CSRF-Token": "x"}).status == 403
    page = operator.get("/").text
    token = page.partition('name="csrf" value="')[2].partition('"')[0]
    # the worker does not run here: the request was let through to it
    assert door.request("POST", "/api/sessions", GOOD, {**known, "X-CSRF-Token": token}).status == 503
    assert door.request("POST", "/api/sessions", GOOD, {"X-CSRF-Token": token}).status == 401


def test_signing_out_needs_the_form_token_and_deletes_the_cookie(operator: Client) -> None:
    assert operator.post("/logout", {}).status == 403
    assert operator.submit("/", "/logout").headers["location"] == "/login"
    assert any("Max-Age=0" in line for line in operator.set_cookies)
    assert operator.get("/").headers["location"] == "/login?next=%2F"


def test_the_pages_hold_no_token(operator: Client) -> None:
    assert TOKEN not in operator.get("/").text


def test_wrong_tokens_of_an_address_are_limited_for_a_time() -> None:
    now = [0.0]
    limit = FailureLimit(lambda: now[0])
    for _ in range(MAX_FAILURES):
        assert limit.wait_s("a") == 0
        limit.failed("a")
    assert (limit.wait_s("a"), limit.wait_s("b")) == (WINDOW_S, 0)
    now[0] = WINDOW_S
    assert limit.wait_s("a") == 0
    limit.failed("a")
    assert limit.wait_s("a") == 0


def test_addresses_are_forgotten_before_they_fill_the_memory() -> None:
    limit = FailureLimit(lambda: 0.0)
    for number in range(MAX_ADDRESSES + 5):
        limit.failed(str(number))
    assert len(limit._counts) == MAX_ADDRESSES


def test_after_ten_wrong_tokens_the_right_one_must_wait(tmp_path_factory: pytest.TempPathFactory) -> None:
    with Door(tmp_path_factory.mktemp("limited")) as door:
        visitor = Client(door.port)
        for _ in range(MAX_FAILURES):
            assert visitor.sign_in("wrong").status == 401
        answer = visitor.sign_in()
        assert answer.status == 429 and 0 < int(answer.headers["retry-after"]) <= WINDOW_S


def _cookies(client: Client) -> str:
    return "; ".join(f"{name}={value}" for name, value in client.cookies.items())
