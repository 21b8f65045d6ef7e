"""GitHub's signature rule, from its own vector to a storm of forgeries, and the secrets that `serve` takes."""

from __future__ import annotations

import hmac
from hashlib import sha1

import pytest

from bot.errors import ConfigError
from bot.web.signature import parse_secrets, signed
from tests.web.conftest import OLD_SECRET, SECRET, Door, headers_for, sign

VECTOR = b"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
"""GitHub docs, "Validating webhook deliveries", *Testing the webhook payload validation*."""

BODY = b'{"zen": "Speak like a human."}'


def test_githubs_own_example_is_taken() -> None:
    assert signed(b"Hello, World!", VECTOR, (b"It's a Secret to Everybody",))


def forgeries() -> dict[str, str | None]:
    good = sign(BODY)
    digest = good.removeprefix("sha256=")
    return {
        "missing": None,
        "empty": "",
        "prefix alone": "sha256=",
        "no prefix": digest,
        "sha1 in its place": "sha1=" + hmac.new(SECRET.encode(), BODY, sha1).hexdigest(),
        "sha1 under the name of sha256": "sha256=" + hmac.new(SECRET.encode(), BODY, sha1).hexdigest(),
        "sha512 prefix": "sha512=" + digest,
        "prefix in upper case": "SHA256=" + digest,
        "digest in upper case": "sha256=" + digest.upper(),
        "first character": "sha256=" + ("0" if digest[0] != "0" else "1") + digest[1:],
        "last character": "sha256=" + digest[:-1] + ("0" if digest[-1] != "0" else "1"),
        "one short": "sha256=" + digest[:-1],
        "one long": "sha256=" + digest + "0",
        "twice": f"{good},{good}",
        "two values": f"{good} {good}",
        "quoted": f'"{good}"',
        "space inside": "sha256= " + digest,
        "reversed": "sha256=" + digest[::-1],
        "no hex": "sha256=" + "g" * 64,
        "zeros": "sha256=" + "0" * 64,
        "not ASCII": "sha256=" + "é" * 64,
        "full-width digits": "sha256=" + "\xb2" * 64,
        "of the empty body": sign(b""),
        "of another body": sign(BODY + b" "),
        "with the empty key": sign(BODY, ""),
        "with another secret": sign(BODY, SECRET[:-1]),
        "with both secrets as one": sign(BODY, f"{SECRET}, {OLD_SECRET}"),
    }


def test_no_forgery_is_taken_and_none_leaves_a_row(door: Door) -> None:
    answers = {}
    for name, value in forgeries().items():
        headers = headers_for(BODY, x_hub_signature_256=value)
        if name.startswith("sha1"):
            headers["X-Hub-Signature"] = "sha1=" + hmac.new(SECRET.encode(), BODY, sha1).hexdigest()
        answers[name] = door.post(BODY, headers).status
    assert len(answers) >= 25
    assert set(answers.values()) == {401}, answers
    assert door.rows() == []


def test_sha1_alone_is_not_a_signature(door: Door) -> None:
    headers = headers_for(BODY, x_hub_signature_256=None)
    headers["X-Hub-Signature"] = "sha1=" + hmac.new(SECRET.encode(), BODY, sha1).hexdigest()
    assert door.post(BODY, headers).status == 401


def test_while_the_secret_is_changed_the_old_and_the_new_one_are_taken(door: Door) -> None:
    for guid, secret in (("new", SECRET), ("old", OLD_SECRET)):
        headers = headers_for(BODY, guid, x_hub_signature_256=sign(BODY, secret))
        assert door.post(BODY, headers).json == {"delivery": guid, "status": "accepted"}


def test_the_raw_bytes_are_signed_and_not_what_they_mean(door: Door) -> None:
    spaced = BODY.replace(b": ", b":")
    assert door.post(spaced, headers_for(spaced, x_hub_signature_256=sign(BODY))).status == 401


@pytest.mark.parametrize(
    "value", [None, "", " , ", "short-of-it", "a" * 31, "development", "secret", "changeme", f"{SECRET},changeme"]
)
def test_a_missing_or_weak_secret_is_refused_with_the_mend(value: str | None) -> None:
    with pytest.raises(ConfigError, match=r"WEBHOOK_SECRET.*(openssl rand|32 characters or more)"):
        parse_secrets(value)


def test_any_secret_that_is_long_enough_will_do() -> None:
    """How it was made cannot be seen in it (T2 asks for a length and names the well-known ones)."""
    assert parse_secrets("s" * 32) == (b"s" * 32,)


def test_two_secrets_are_told_apart_by_a_comma() -> None:
    assert parse_secrets(f"{SECRET}, {OLD_SECRET}") == (SECRET.encode(), OLD_SECRET.encode())
