"""The listing of deliveries: newest first, page by page, for those who may read it."""

from __future__ import annotations

import pytest

from tests.web.conftest import TOKEN, Door, headers_for

BODY = b"{}"


def test_deliveries_are_listed_newest_first_with_all_that_is_known_of_them(door: Door) -> None:
    for number in range(3):
        door.post(BODY, headers_for(BODY, f"guid-{number}"))
    listed = door.get("/api/deliveries").json
    assert [row["delivery"] for row in listed] == ["guid-2", "guid-1", "guid-0"]
    assert set(listed[0]) == {"delivery", "event", "status", "because", "received_at"}
    assert listed[0]["event"] == "issues"
    assert listed[0]["received_at"] > 1_700_000_000_000


def test_pages_follow_one_another_without_gap_or_repeat(door: Door) -> None:
    for number in range(7):
        door.post(BODY, headers_for(BODY, f"guid-{number}"))
    pages = [door.get(f"/api/deliveries?limit=3&offset={offset}").json for offset in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert len({row["delivery"] for page in pages for row in page}) == 7


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=-1", "limit=1001", "limit=x", "limit=1.5", "limit=", "offset=-1", "offset=x",
     "offset=2147483648",
     "limit=" + "9" * 5000, "offset=" + "9" * 40, "limit=%00"],
)  # fmt: skip
def test_a_bad_page_is_422_and_names_the_field(door: Door, query: str) -> None:
    answer = door.get(f"/api/deliveries?{query}")
    assert answer.status == 422
    assert query.partition("=")[0] in answer.json["error"]


def test_the_widest_page_is_a_thousand(door: Door) -> None:
    assert door.get("/api/deliveries?limit=1000&offset=0").json == []


@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", "Bearer ", "Bearer None", "Bearer wrong", TOKEN[:-1], "Bearer \xe9", "Basic " + TOKEN,
     "bearer-" + TOKEN],
)  # fmt: skip
def test_the_listing_wants_the_admin_token_and_a_webhook_none(door: Door, given: str | None) -> None:
    answer = door.get("/api/deliveries", Authorization=given)
    assert answer.status == 401
    assert "MENDBOT_ADMIN_TOKEN" in answer.json["error"]
    assert door.post(BODY).status == 202
