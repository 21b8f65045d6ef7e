"""The page at `/`."""

from __future__ import annotations

from tests.web.pages.client import Client


def test_the_dashboard_is_the_first_page(operator: Client) -> None:
    answer = operator.get("/")
    assert answer.status == 200 and "<h1>Dashboard</h1>" in answer.text
