"""The fast parser at the door takes nothing that the pump's `json` would refuse, and refuses nothing it would take."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.web.webhook import HttpRejection, _check_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def refuse(name: str) -> None:
    raise ValueError(name)


def by_json(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body.decode("utf-8"), parse_constant=refuse), dict)
    except (ValueError, RecursionError):
        return False


def taken(body: bytes) -> bool:
    try:
        _check_object(body)
    except HttpRejection as error:
        assert error.status == 400
        return False
    return True


@given(st.dictionaries(st.text(), VALUES, max_size=5), st.binary(max_size=3), st.integers(0, 200), st.booleans())
@example({}, b"", 0, True)
def test_both_agree_on_json_and_on_damaged_json(
    value: dict[str, object], noise: bytes, place: int, escaped: bool
) -> None:
    body = json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    body = body[:place] + noise + body[place:]
    assert taken(body) == by_json(body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": "\\ud800"}', b'{"a": "\xed\xa0\x80"}', b'\xef\xbb\xbf{}', b"{}x",
        b"[]", b"", b'{"a": 01}', b'{"a": 1e999}', b'{"a": ' + b"9" * 4300 + b"}", b'{"a": ' + b"9" * 4301 + b"}",
        b'{"a":' * 500 + b"1" + b"}" * 500, b'{"a":' * 200_000, b'{"a": "\x01"}', b'{"a": "\xff"}',
    ],
)  # fmt: skip
def test_both_agree_on_what_is_odd(body: bytes) -> None:
    assert taken(body) == by_json(body)
