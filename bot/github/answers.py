"""What an answer of GitHub's means: one of our four errors, or nothing to complain of. Pure functions over status,
headers and body, so that every rule of GitHub's documentation that we follow can be read and tested in one place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import Stale, Transient, UserError
from bot.github.clock import http_date
from bot.http import HttpResponse, Unclear
from bot.reports.locale.reasons import english, user_error
from bot.rules.reasons import make_reason

MIN_UNTOLD_WAIT_S = 60.0
MAX_UNTOLD_WAIT_S = 900.0


class NotFound(Stale):
    """404: there is no such object, or the App may not see it, or it is not there yet."""


class Unauthorized(UserError):
    """401: GitHub does not take the token or JWT."""


class Invalid(UserError):
    """422: GitHub understood the request and will not do it."""


class Form(BaseModel):
    """The base of what is read of GitHub's JSON: only the members named, whatever else comes along."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


FormT = TypeVar("FormT", bound=Form)


def validate_form(form: type[FormT], data: object) -> FormT:
    """The JSON value as that form; Unclear where GitHub's answer has another shape, for then we know nothing."""
    try:
        return form.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the answer"
        raise Unclear(f"GitHub's answer has an unexpected shape: {where}: {first['msg']}") from None


def parse_json(body: bytes) -> Any:
    """The JSON of a body, None for an empty one; ValueError whatever else is wrong with it."""
    if not body:
        return None
    try:
        return json.loads(body.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def message_of(answer: HttpResponse) -> str:
    """GitHub's own words about a refusal, with the details of its `errors`; empty where it gave none."""
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
            said = item.get("message") or " ".join(str(item[k]) for k in ("field", "code") if item.get(k))
            parts.append(str(said))
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
    """Seconds in which nothing may be asked, or None where the answer shows no limit; an answer that was not
    refused shows one too where it was the last of the hour.

    The rules of GitHub's "Rate limits for the REST API", in its order: `retry-after`; else `x-ratelimit-reset` where
    nothing remains; else a minute, doubled with every strike before (at most 15 minutes)."""
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
    return float(min(MIN_UNTOLD_WAIT_S * 2**strikes, MAX_UNTOLD_WAIT_S))


def limited(answer: HttpResponse) -> bool:
    """Whether GitHub refused the request for a primary or secondary limit: 429, or a 403 that says so."""
    if answer.status == 429:
        return True
    if answer.status != 403:
        return False
    words = message_of(answer).lower()
    exhausted = _number(answer.headers.get("x-ratelimit-remaining")) == 0
    return exhausted or "retry-after" in answer.headers or "rate limit" in words or "abuse detection" in words


def raise_for_status(method: str, path: str, answer: HttpResponse) -> None:
    """Raises what the answer means; returns where it is a usable 2xx. Limits are judged before, by `limited`."""
    said = message_of(answer)
    details = f": {said}" if said else ""
    match answer.status:
        case status if 200 <= status < 300:
            _usable(method, path, answer)
        case 401:
            raise Unauthorized(
                f"GitHub did not accept our credentials for {method} {path}{details}; check APP_ID and PRIVATE_KEY"
            )
        case 403:
            what = f"{method} {path}{details}{_permission(answer)}"
            raise user_error(make_reason("github.refused", what=what))
        case 404:
            because = make_reason("github.unknown", what=path)
            raise NotFound(english(because), because=because)
        case 410:
            raise Stale(f"{path} is gone{details}")
        case 422:
            raise user_error(make_reason("github.will_not", what=f"{method} {path}{details}"), Invalid)
        case 408:
            raise Unclear(f"{method} {path}: GitHub answered 408{details}")
        case status if 400 <= status < 500:
            raise UserError(f"GitHub answered {status} to {method} {path}{details}")
        case status if status >= 500:
            raise Unclear(f"{method} {path}: GitHub answered {status}{details}")
        case status:
            raise Transient(f"{method} {path}: GitHub answered {status}")


def _usable(method: str, path: str, answer: HttpResponse) -> None:
    try:
        parse_json(answer.body)
    except ValueError:
        # a proxy's or a maintenance page; threats.md 3: as a 5xx
        raise Unclear(f"{method} {path}: GitHub answered {answer.status} with something that is not JSON") from None


def _permission(answer: HttpResponse) -> str:
    """What the App lacks; GitHub names it in this header (REST API troubleshooting, "Resource not accessible")."""
    wanted = answer.headers.get("x-accepted-github-permissions")
    return f'; the App needs {wanted}: grant it under the App\'s "Permissions & events"' if wanted else ""
