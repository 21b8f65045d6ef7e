"""What the door answers, and what it stores: every line of the contract's table for `POST /api/github/webhooks`."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.web.conftest import HOOKS, Door, headers_for, sign

BODY = b'{"action": "opened", "zen": "Keep it logically awesome."}'


def test_a_delivery_is_acknowledged_once_it_is_on_disk(door: Door) -> None:
    answer = door.post(BODY)
    assert (answer.status, answer.json) == (202, {"delivery": "guid-1", "status": "accepted"})
    assert answer.headers["content-type"] == "application/json"
    assert door.rows() == [("guid-1", "issues", "accepted")]


def test_the_other_path_leads_through_the_same_door(door: Door) -> None:
    assert door.post(BODY, path="/webhook").json["status"] == "accepted"
    assert door.post(BODY, path=HOOKS).json["status"] == "duplicate"


def test_a_hundred_copies_at_once_are_one_row_and_one_accepted(door: Door) -> None:
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: door.post(BODY), range(100)))
    assert [answer.status for answer in answers] == [202] * 100
    assert sorted(answer.json["status"] for answer in answers) == ["accepted"] + ["duplicate"] * 99
    assert len(door.rows()) == 1


def test_a_known_id_is_a_duplicate_whatever_its_body(door: Door) -> None:
    other = b'{"action": "closed"}'
    assert door.post(BODY).json["status"] == "accepted"
    assert door.post(other, headers_for(other)).json["status"] == "duplicate"


@pytest.mark.parametrize("status", ["accepted", "processing", "done", "ignored"])
def test_a_known_id_that_has_not_failed_is_a_duplicate(door: Door, status: str) -> None:
    door.post(BODY)
    door.mark("guid-1", status)
    assert door.post(BODY).json["status"] == "duplicate"
    assert door.rows() == [("guid-1", "issues", status)]


def test_a_known_id_that_failed_is_accepted_again_once(door: Door) -> None:
    door.post(BODY)
    door.mark("guid-1", "failed")
    assert [door.post(BODY).json["status"] for _ in range(3)] == ["accepted", "duplicate", "duplicate"]
    assert door.rows() == [("guid-1", "issues", "accepted")]


def test_what_is_accepted_again_is_what_came_this_time(door: Door) -> None:
    door.post(BODY)
    door.mark("guid-1", "failed")
    other = b'{"action": "closed"}'
    assert door.post(other, headers_for(other, x_github_event="star")).json["status"] == "accepted"
    assert door.rows() == [("guid-1", "star", "accepted")]
    with sqlite3.connect(door.home / "mendbot.db") as database:
        assert database.execute("SELECT payload FROM deliveries").fetchone() == (other,)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"a": 1} {"b": 2}',
        b"null",
        b"[]",
        b'["a"]',
        b'"text"',
        b"7",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": -Infinity}',
        b'{"a": 1' + b"0" * 4300 + b"}",
        b'{"a": -' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a": "\xff\xfe"}',
        b'{"a": "\xed\xa0\x80"}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": 1,}',
        b"{'a': 1}",
        b'{"a": "line\nbreak"}',
        b"payload=%7B%7D",
    ],
    ids=lambda body: repr(body[:16]),
)
def test_a_signed_body_that_is_no_json_object_is_told_so(door: Door, body: bytes) -> None:
    answer = door.post(body)
    assert answer.status == 400
    assert "JSON" in answer.json["error"]
    assert door.rows() == []
    assert door.post(BODY).status == 202


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b' \r\n\t{"a": 1}\n',
        b'{"a": "\\u0000", "b": "\\ud800", "c": {"__proto__": 1, "__class__": 2}}',
        b'{"a": 1e400, "b": ' + b"9" * 4000 + b"}",
        b'{"a": ' + b"[" * 300 + b"]" * 300 + b"}",
        '{"a": "\N{HANGUL SYLLABLE HAN}\N{GRINNING FACE}"}'.encode(),
    ],
    ids=lambda body: repr(body[:16]),
)
def test_odd_but_valid_json_is_taken(door: Door, body: bytes) -> None:
    assert door.post(body).status == 202


@pytest.mark.parametrize("name", ["x_github_event", "x_github_delivery"])
@pytest.mark.parametrize(
    "value", [None, "", "a b", "x" * 65, "../../etc/passwd", "a;b", "'--", "\xe9", "a\tb", "$(id)"]
)
def test_a_missing_or_malformed_header_is_named(door: Door, name: str, value: str | None) -> None:
    answer = door.post(BODY, headers_for(BODY, **{name: value}))
    assert answer.status == 400
    assert name.replace("_", "-") in answer.json["error"]
    assert door.rows() == []


@pytest.mark.parametrize(
    "value", [None, "", "application/x-www-form-urlencoded", "text/plain", "application/jsonp", "json", "application"]
)
def test_any_other_content_type_is_415_and_says_what_to_set(door: Door, value: str | None) -> None:
    answer = door.post(BODY, headers_for(BODY, content_type=value))
    assert answer.status == 415
    assert "application/json" in answer.json["error"]
    assert door.rows() == []


@pytest.mark.parametrize(
    "value", ["application/json; charset=utf-8", "Application/JSON", "application/json;charset=evil"]
)
def test_a_charset_is_not_believed_and_does_not_matter(door: Door, value: str) -> None:
    assert door.post(BODY, headers_for(BODY, content_type=value)).status == 202


@pytest.mark.parametrize("value", ["999", "12345", "", "01234", "1234,999", "abc"])
def test_a_delivery_for_another_app_is_refused(door: Door, value: str) -> None:
    assert door.post(BODY, headers_for(BODY, x_github_hook_installation_target_id=value)).status == 403
    assert door.rows() == []


def test_without_the_target_header_the_signature_decides(door: Door) -> None:
    assert door.post(BODY, headers_for(BODY, x_github_hook_installation_target_id=None)).status == 202


@pytest.mark.parametrize("event", ["__class__", "__init__", "issues_", "totally_new_event", "constructor"])
def test_an_event_nobody_knows_is_stored_like_any_other(door: Door, event: str) -> None:
    assert door.post(BODY, headers_for(BODY, x_github_event=event)).status == 202
    assert door.rows() == [("guid-1", event, "accepted")]


def test_nothing_is_parsed_before_it_is_verified(door: Door) -> None:
    body = b"[" * 100_000
    assert door.post(body, headers_for(body, x_hub_signature_256=sign(b"other"))).status == 401


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_only_posts_are_deliveries(door: Door, method: str) -> None:
    answer = door.request(method, HOOKS, None, {})
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_the_payload_is_stored_byte_by_byte(door: Door) -> None:
    body = json.dumps({"text": "é\u2028\x7f" * 10_000}, ensure_ascii=False).encode()
    door.post(body)
    with sqlite3.connect(door.home / "mendbot.db") as database:
        assert database.execute("SELECT payload FROM deliveries").fetchone() == (body,)
