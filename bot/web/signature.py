"""Whether a webhook body is GitHub's, told from its raw bytes.

GitHub's rule: `X-Hub-Signature-256` is `sha256=` and the HMAC-SHA256 of the body in hex, compared in constant time
(docs: *Validating webhook deliveries*). SHA-1 alone is not accepted (T1)."""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from hashlib import sha256

from bot.errors import ConfigError

_FORM = re.compile(rb"sha256=[0-9a-f]{64}\Z")
_WELL_KNOWN = frozenset({"development", "secret", "changeme", "password", "webhook"})
MINIMUM = 32


def parse_secrets(value: str | None) -> tuple[bytes, ...]:
    """The secrets a delivery may be signed with: one, or two separated by a comma while a secret is being changed.

    Raises ConfigError for a missing, short or well-known one (T2)."""
    parts = [part.strip() for part in (value or "").split(",") if part.strip()]
    if not parts:
        raise ConfigError("WEBHOOK_SECRET is not set: give the secret of the App's webhook, 32 characters or more")
    for part in parts:
        if part.lower() in _WELL_KNOWN or len(part) < MINIMUM:
            raise ConfigError(
                f"WEBHOOK_SECRET is too weak: use {MINIMUM} or more random characters, for example those that "
                "`openssl rand -hex 32` prints"
            )
    return tuple(part.encode() for part in parts)


def signed(body: bytes, header: bytes | None, secrets: Sequence[bytes]) -> bool:
    """Whether `header` is the signature of `body` under one of `secrets`."""
    if header is None or not _FORM.match(header):
        return False
    given = header[7:]
    return any(hmac.compare_digest(hmac.new(secret, body, sha256).hexdigest().encode(), given) for secret in secrets)
