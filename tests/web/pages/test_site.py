"""What all pages share: they are for those who are signed in, and no other site can act through them."""

from __future__ import annotations

import pytest

from bot.web.pages.site import safe_path
from tests.web.conftest import Door
from tests.web.pages.client import Client

PAGES = ("/", "/runs", "/deliveries", "/history", "/groups", "/setup")


@pytest.mark.parametrize("path", [*PAGES, "/?state=failed"])
def test_without_a_session_every_page_leads_to_the_sign_in_page(visitor: Client, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status == 303
    assert answer.headers["location"].startswith("/login?next=%2F")


def test_the_admin_token_in_a_header_opens_no_page(door: Door) -> None:
    """Pages are for browsers: programs use the API."""
    assert door.get("/").status == 303


@pytest.mark.parametrize("path", ["/login", *PAGES])
def test_every_page_forbids_scripts_frames_and_requests_to_others(operator: Client, path: str) -> None:
    answer = operator.get(path) if path != "/login" else Client(operator.port).get(path)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "*" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"
    assert " style=" not in answer.text and " onclick=" not in answer.text and "<style" not in answer.text
    assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")


def test_an_unknown_path_is_a_page_for_browsers_and_json_for_programs(door: Door, visitor: Client) -> None:
    page = visitor.get("/nowhere")
    assert page.status == 404 and page.headers["content-type"].startswith("text/html") and "<h1>" in page.text
    assert "error" in door.get("/nowhere").json
    assert "error" in door.get("/api/nowhere", Accept="text/html").json


@pytest.mark.parametrize("path", ["/", "/runs/a?b=c#L1", "/deliveries?refused=1"])
def test_a_path_of_this_server_is_safe(path: str) -> None:
    assert safe_path(path) == path


@pytest.mark.parametrize(
    "path",
    ["", "x", "//evil", "/\\evil", "\\evil", "https://evil", "/\n/evil", "/\t/evil", "javascript:alert(1)", "///x"],
)
def test_any_other_is_not(path: str) -> None:
    assert safe_path(path) == "/"
