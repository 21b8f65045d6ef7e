"""Verifies that a webhook body comes from GitHub, by its raw bytes and its signature.

GitHub's rule: `X-Hub-Signature-256` is `sha256=` and the HMAC-SHA256 of the body in hex, compared in constant time
(docs: *Validating webhook deliveries*). SHA-1 alone is not accepted (T1)."""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from hashlib import sha256

from bot.errors import ConfigError
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

_FORM = re.compile(rb"sha256=[0-9a-f]{64}\Z")
_WELL_KNOWN = frozenset({"development", "secret", "changeme", "password", "webhook"})
MIN_LENGTH = 32


def parse_secrets(value: str | None) -> tuple[bytes, ...]:
    """The secrets that deliveries are signed with: one, or two separated by a comma while the secret is changed.

    Raises ConfigError where one is missing, short or well known (T2)."""
    parts = [part.strip() for part in (value or "").split(",") if part.strip()]
    if not parts:
        raise user_error(make_reason("webhook.no_secret", count=MIN_LENGTH), ConfigError)
    for part in parts:
        if part.lower() in _WELL_KNOWN or len(part) < MIN_LENGTH:
            raise user_error(make_reason("webhook.weak_secret", count=MIN_LENGTH), ConfigError)
    return tuple(part.encode() for part in parts)


def sign(body: bytes, secret: bytes) -> str:
    """The header `X-Hub-Signature-256` of a body."""
    return f"sha256={hmac.new(secret, body, sha256).hexdigest()}"


def signed(body: bytes, header: bytes | None, secrets: Sequence[bytes]) -> bool:
    """Whether `header` is the signature of `body` under one of `secrets`."""
    if header is None or not _FORM.match(header):
        return False
    return any(hmac.compare_digest(sign(body, secret).encode(), header) for secret in secrets)
