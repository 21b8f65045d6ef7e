"""The page of deliveries: what came and why it was decided so, also refused ones, and replaying one."""

from __future__ import annotations

import re

from tests.web.conftest import Door, headers_for
from tests.web.pages.client import Client

BODY = b"{}"


def test_deliveries_are_listed_with_what_was_decided(door: Door, operator: Client) -> None:
    door.post(BODY, headers_for(BODY, "guid-1"))
    door.mark("guid-1", "ignored")
    text = operator.get("/deliveries").text
    assert "guid-1" in text and ">ignored</span>" in text and ">issues</td>" in text


def test_deliveries_are_listed_without_ignored_ones(door: Door, operator: Client) -> None:
    for name in ("guid-ignored", "guid-done"):
        door.post(BODY, headers_for(BODY, name))
        door.mark(name, "ignored" if name == "guid-ignored" else "done")
    text = operator.get("/deliveries?ignored=0").text
    assert "guid-done" in text and "guid-ignored" not in text


def test_a_refused_delivery_is_listed_with_its_reason(door: Door, operator: Client) -> None:
    assert door.post(BODY, headers_for(BODY, "guid-forged", X_Hub_Signature_256="sha256=" + "0" * 64)).status == 401
    text = operator.get("/deliveries?refused=1").text
    assert "guid-forged" in text and "WEBHOOK_SECRET" in text and "replay" not in text.lower()


def test_replay_stores_the_payload_again_under_a_new_id(door: Door, operator: Client) -> None:
    door.post(BODY, headers_for(BODY, "guid-1"))
    answer = operator.submit("/deliveries", "/deliveries/guid-1/replay")
    new = re.fullmatch(r"/deliveries\?replayed=(replay-[0-9a-f-]+)", answer.headers["location"])
    assert answer.status == 303 and new is not None
    assert [row[0] for row in door.rows()] == ["guid-1", new[1]]
    assert new[1] in operator.get(answer.headers["location"]).text


def test_replay_needs_the_form_token_and_a_known_delivery(door: Door, operator: Client) -> None:
    door.post(BODY, headers_for(BODY, "guid-1"))
    assert operator.post("/deliveries/guid-1/replay", {}).status == 403
    token = re.search(r'name="csrf" value="(\w+)"', operator.get("/deliveries").text)
    assert token is not None and operator.post("/deliveries/none/replay", {"csrf": token[1]}).status == 404
    assert len(door.rows()) == 1


def test_pages_of_deliveries_follow_one_another(door: Door, operator: Client) -> None:
    for number in range(52):
        door.post(BODY, headers_for(BODY, f"guid-{number}"))
    assert "offset=50" in operator.get("/deliveries").text
    last = operator.get("/deliveries?offset=50").text
    assert last.count("/replay") == 2 and "offset=0" in last
