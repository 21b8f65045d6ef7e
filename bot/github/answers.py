"""What a response of GitHub means: one of our four errors, or success.

Pure functions over status, headers and body: all rules of GitHub's documentation that we follow are in this file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from bot.errors import MendbotError, Stale, Transient, UserError
from bot.github.clock import http_date
from bot.http import HttpResponse, Unclear
from bot.model.github_json import GitHubModel
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

MIN_WAIT_S = 60.0
MAX_WAIT_S = 900.0
"""The wait where GitHub names no time."""


class NotFound(Stale):
    """404: there is no such object, or the App may not see it, or it is not there yet."""


class Unauthorized(UserError):
    """401: GitHub does not accept the token or JWT."""


class Invalid(UserError):
    """422: GitHub understood the request and refuses it."""


_Model = TypeVar("_Model", bound=GitHubModel)


def parse_model(model: type[_Model], data: object) -> _Model:
    """The JSON value as that model. Raises Unclear if the response has another shape, as nothing is known then."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        kind = "github.shape" if where else "github.shape_of_all"
        values = {"where": where} if where else {}
        raise user_error(make_reason(kind, problem=first["msg"], **values), Unclear) from None


def parse_json(body: bytes) -> Any:
    """The JSON of a body, None for an empty one; ValueError whatever else is wrong with it."""
    if not body:
        return None
    try:
        return json.loads(body.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def message_of(answer: HttpResponse) -> str:
    """GitHub's own message about an error, with the details of its `errors`; empty if there is none."""
    try:
        data = parse_json(answer.body)
    except ValueError:
        return ""
    if not isinstance(data, Mapping):
        return ""
    errors = data.get("errors")
    parts = [str(data.get("message") or "")]
    for item in errors if isinstance(errors, list) else [errors]:
        if isinstance(item, Mapping):
            details = item.get("message") or " ".join(str(item[k]) for k in ("field", "code") if item.get(k))
            parts.append(str(details))
        elif item:
            parts.append(str(item))
    return ": ".join(part for part in parts if part)[:1000]


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < 1e12 else None


def limit_wait(answer: HttpResponse, server_now: float, strikes: int) -> float | None:
    """The seconds to wait before the next request, or None if the response shows no limit.

    A successful response shows a limit too, if it was the last that the hour allows. The rules are those of GitHub's
    "Rate limits for the REST API", in its order: `retry-after`; else `x-ratelimit-reset` if nothing remains; else a
    minute, doubled with every earlier strike (at most 15 minutes)."""
    exhausted = _number(answer.headers.get("x-ratelimit-remaining")) == 0
    reset = _number(answer.headers.get("x-ratelimit-reset"))
    until_reset = reset - server_now if exhausted and reset is not None and reset > server_now else None
    if not limited(answer):
        return until_reset
    after = answer.headers.get("retry-after")
    wait_s = _number(after)
    if wait_s is None and (date := http_date(after)) is not None:
        wait_s = max(1.0, date - server_now)
    if wait_s is not None:
        return wait_s
    if until_reset is not None:
        return until_reset
    return float(min(MIN_WAIT_S * 2**strikes, MAX_WAIT_S))


class RateBudget(NamedTuple):
    """The requests of an hour: the limit, how many remain, and when they are given anew (epoch seconds)."""

    limit: int
    remaining: int
    reset_at: float


def rate_budget(answer: HttpResponse) -> RateBudget | None:
    """The budget that a response names; None if it names none, or one of another resource such as `search`."""
    names = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")
    limit, remaining, reset = (_number(answer.headers.get(name)) for name in names)
    if limit is None or remaining is None or answer.headers.get("x-ratelimit-resource", "core") != "core":
        return None
    return RateBudget(int(limit), int(remaining), reset or 0.0)


def limited(answer: HttpResponse) -> bool:
    """Whether GitHub refused the request for a primary or secondary limit: 429, or a 403 that names a limit."""
    if answer.status == 429:
        return True
    if answer.status != 403:
        return False
    message = message_of(answer).lower()
    exhausted = _number(answer.headers.get("x-ratelimit-remaining")) == 0
    return exhausted or "retry-after" in answer.headers or "rate limit" in message or "abuse detection" in message


def raise_for_status(method: str, path: str, answer: HttpResponse) -> None:
    """Raises the error that the response means; returns for a usable 2xx. `limited` is to be asked before."""
    if not 200 <= answer.status < 300:
        raise _error(method, path, answer)
    try:
        parse_json(answer.body)
    except ValueError:
        # a proxy's or a maintenance page; threats.md 3: as a 5xx
        reason = make_reason("github.not_json", request=f"{method} {path}", status=answer.status)
        raise user_error(reason, Unclear) from None


def _error(method: str, path: str, answer: HttpResponse) -> MendbotError:
    message = message_of(answer)
    details = f": {message}" if message else ""
    what = f"{method} {path}{details}"
    match answer.status:
        case 401:
            return user_error(make_reason("github.credentials", what=what), Unauthorized)
        case 403:
            # GitHub names what the App lacks in this header (REST API troubleshooting, "Resource not accessible")
            if permissions := answer.headers.get("x-accepted-github-permissions"):
                return user_error(make_reason("github.needs_permission", what=what, permissions=permissions), UserError)
            return user_error(make_reason("github.refused", what=what), UserError)
        case 404:
            return user_error(make_reason("github.unknown", what=path), NotFound)
        case 410:
            return user_error(make_reason("github.gone", path=path, details=details), Stale)
        case 422:
            return user_error(make_reason("github.will_not", what=what), Invalid)
        case status if 400 <= status < 500 and status != 408:
            return user_error(make_reason("github.refused_with", status=status, what=what), UserError)
        case status:
            reason = make_reason("github.status", request=f"{method} {path}", status=status, details=details)
            return user_error(reason, Unclear if status == 408 or status >= 500 else Transient)
