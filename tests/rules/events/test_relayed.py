"""A relayed delivery has its headers and the very text of its body."""

from __future__ import annotations

import json

import pytest

from bot.rules.events.relayed import read_relayed


@pytest.mark.parametrize(
    "body", ['{"a":1.0,"b":1e2,"c":"é\\u00e9\\/","d":12345678901234567890}', '{ "body": {"x-y": 1} }', "[]"]
)
def test_the_body_is_the_text_of_the_message(body: str) -> None:
    delivery = read_relayed(f' {{"x-github-event" : "issues", "host":"smee.io","body":{body} ,"timestamp":1}}')
    assert delivery is not None
    assert delivery.body == body.encode()
    assert delivery.headers == {"x-github-event": "issues"}


def test_a_body_that_is_text_is_that_text() -> None:
    delivery = read_relayed(json.dumps({"body": '{"a": 1}', "content-type": "application/json", "x-evil": "a\r\nb"}))
    assert delivery == ({"content-type": "application/json"}, b'{"a": 1}')


@pytest.mark.parametrize("data", ["", "{}", "[]", '{"x-github-event":"ping"}', '{"body":', '{"body" 1}', '"body"'])
def test_what_holds_no_delivery_is_none(data: str) -> None:
    assert read_relayed(data) is None
