from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import MendbotError, Stale, Transient, UserError
from bot.github.answers import (
    Invalid,
    NotFound,
    Unauthorized,
    limit_wait,
    limited,
    message_of,
    raise_for_status,
    rate_budget,
)
from bot.http import HttpResponse, Unclear

NOW = 1_800_000_000.0


def answer(status: int, body: Any = None, **headers: str) -> HttpResponse:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
    return HttpResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, raw)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, Unauthorized), (403, UserError), (404, NotFound), (404, Stale), (408, Unclear), (409, UserError),
        (410, Stale), (418, UserError), (422, Invalid), (451, UserError), (500, Unclear), (502, Unclear),
        (503, Unclear), (599, Unclear), (304, Transient), (301, Transient),
    ],
)  # fmt: skip
def test_each_status_is_one_of_our_errors(status: int, kind: type[MendbotError]) -> None:
    with pytest.raises(kind):
        raise_for_status("GET", "/x", answer(status, {"message": "said"}))


def test_the_budget_of_the_hour_is_read_but_not_that_of_other_resources() -> None:
    headers = {"x_ratelimit_limit": "5000", "x_ratelimit_remaining": "4990", "x_ratelimit_reset": "1800000300"}
    assert rate_budget(answer(200, **headers)) == (5000, 4990, 1_800_000_300)
    assert rate_budget(answer(200, x_ratelimit_resource="search", **headers)) is None
    assert rate_budget(answer(200)) is None
    assert rate_budget(answer(200, x_ratelimit_limit="many", x_ratelimit_remaining="4990")) is None


def test_a_refusal_names_the_permission_that_github_names() -> None:
    refused = answer(
        403, {"message": "Resource not accessible by integration"}, x_accepted_github_permissions="issues=write"
    )
    with pytest.raises(UserError, match=r"Resource not accessible.*issues=write"):
        raise_for_status("POST", "/x", refused)


def test_the_details_of_a_422_are_told() -> None:
    body = {
        "message": "Validation Failed",
        "errors": [{"message": "A pull request already exists for o:b."}, {"field": "x", "code": "bad"}, "more"],
    }
    assert message_of(answer(422, body)) == ("Validation Failed: A pull request already exists for o:b.: x bad: more")


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b"[" * 100_000, b"{"])
def test_a_200_that_is_not_json_is_as_a_5xx(body: bytes) -> None:
    with pytest.raises(Unclear):
        raise_for_status("GET", "/x", answer(200, body))


@pytest.mark.parametrize(
    ("given_answer", "strikes", "wait"),
    [
        (answer(429, {"message": "x"}, retry_after="7"), 0, 7),
        (answer(403, {"message": "You have exceeded a secondary rate limit"}, retry_after="30"), 3, 30),
        (answer(403, {"message": "You have exceeded a secondary rate limit"}, x_ratelimit_remaining="44"), 0, 60),
        (answer(429, {"message": "x"}), 0, 60),
        (answer(429, {"message": "x"}), 2, 240),
        (answer(429, {"message": "x"}), 20, 900),
        (answer(403, {}, x_ratelimit_remaining="0", x_ratelimit_reset=str(int(NOW) + 100)), 0, 100),
        (answer(403, {}, x_ratelimit_remaining="0", x_ratelimit_reset=str(int(NOW) - 100)), 0, 60),
        (answer(429, {}, retry_after="soon"), 0, 60),
        (answer(429, {}, retry_after="-5"), 0, 60),
        (answer(429, {}, retry_after="Fri, 15 Jan 2027 08:01:00 GMT"), 0, 60),
        (answer(429, b"<html>slow down</html>"), 0, 60),
        (answer(200, {}, x_ratelimit_remaining="0", x_ratelimit_reset=str(int(NOW) + 9)), 0, 9),
        (answer(200, {}, x_ratelimit_remaining="1", x_ratelimit_reset=str(int(NOW) + 9)), 0, None),
        (answer(403, {"message": "Resource not accessible by integration"}), 0, None),
        (answer(404, {}), 0, None),
    ],
)
def test_how_long_github_wants_silence(given_answer: HttpResponse, strikes: int, wait: float | None) -> None:
    assert limit_wait(given_answer, NOW, strikes) == wait


@given(
    status=st.integers(200, 599),
    body=st.binary(max_size=200) | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(
        lambda value: json.dumps({"message": value, "errors": value}).encode()
    ),
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "date"]),
        st.text(max_size=20) | st.integers().map(str),
    ),
)  # fmt: skip
def test_whatever_comes_is_judged_with_one_of_our_errors(status: int, body: bytes, headers: dict[str, str]) -> None:
    odd = HttpResponse(status, headers, body)
    wait = limit_wait(odd, NOW, 0)
    assert wait is None or wait >= 0
    assert not limited(odd) or wait is not None
    try:
        raise_for_status("GET", "/x", odd)
    except MendbotError as error:
        assert str(error)
