"""A stored delivery is processed again under an id of its own, for those who have the token."""

from __future__ import annotations

import sqlite3

from tests.web.conftest import TOKEN, Door, headers_for

BODY = b'{"action":"labeled"}'


def _replay(door: Door, delivery: str, **headers: str) -> tuple[int, dict[str, str]]:
    answer = door.request(
        "POST", f"/api/deliveries/{delivery}/replay", b"", {"Authorization": f"Bearer {TOKEN}", **headers}
    )
    return answer.status, answer.json


def test_a_replay_is_a_new_delivery_with_the_same_payload(door: Door) -> None:
    door.post(BODY, headers_for(BODY, "first"))
    door.mark("first", "done")
    status, answer = _replay(door, "first")
    assert (status, answer["replayOf"], answer["status"]) == (202, "first", "accepted")
    assert door.rows() == [("first", "issues", "done"), (answer["delivery"], "issues", "accepted")]
    with sqlite3.connect(door.home / "mendbot.db") as database:
        assert {bytes(row[0]) for row in database.execute("SELECT payload FROM deliveries")} == {BODY}


def test_an_unknown_delivery_is_404(door: Door) -> None:
    status, answer = _replay(door, "nobodys")
    assert status == 404
    assert "/api/deliveries" in answer["error"]


def test_a_replay_needs_the_token_and_no_page_of_another_site_may_ask_for_it(door: Door) -> None:
    door.post(BODY, headers_for(BODY, "first"))
    assert door.request("POST", "/api/deliveries/first/replay", b"", {}).status == 401
    assert _replay(door, "first", Origin="https://evil.example")[0] == 403
    assert len(door.rows()) == 1
