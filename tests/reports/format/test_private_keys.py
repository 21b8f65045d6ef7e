"""No private key is shown that a tool has printed, whatever it put before and after each line (T35)."""

from __future__ import annotations

import base64
import json
import random
import textwrap
import time
from collections.abc import Callable, Mapping
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.reports.format import private_keys
from bot.reports.format.redact import MASK, Redactor
from tests.machine import CPU_S

Lines = list[str]
BEFORE, AFTER = "the setup says so:", "and this line comes after the key"
PGP = ["Version: GnuPG v2", "Comment: made for a test", ""]
ENCRYPTED = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-256-CBC,0123456789ABCDEF0123456789ABCDEF", ""]
KINDS: Mapping[str, tuple[str, int, Lines, Lines]] = {
    "RSA": ("RSA PRIVATE KEY", 64, [], []),
    "EC": ("EC PRIVATE KEY", 64, [], []),
    "DSA": ("DSA PRIVATE KEY", 64, [], []),
    "PKCS 8": ("PRIVATE KEY", 64, [], []),
    "PKCS 8, encrypted": ("ENCRYPTED PRIVATE KEY", 64, [], []),
    "OpenSSH": ("OPENSSH PRIVATE KEY", 70, [], []),
    "with a passphrase": ("RSA PRIVATE KEY", 64, ENCRYPTED, []),
    "PGP": ("PGP PRIVATE KEY BLOCK", 64, PGP, ["=njUN"]),
}


def body_of(size: int, width: int, seed: int) -> Lines:
    return textwrap.wrap(base64.b64encode(random.Random(seed).randbytes(size)).decode(), width)


def each(before: str, after: str = "") -> Callable[[Lines], Lines]:
    return lambda lines: [f"{before}{line}{after}" for line in lines]


def numbered(form: str) -> Callable[[Lines], Lines]:
    return lambda lines: [form.format(number, line) for number, line in enumerate(lines, 7)]


def timed(form: str) -> Callable[[Lines], Lines]:
    return lambda lines: [form.format(number // 60, number % 60, line) for number, line in enumerate(lines, 48)]


PREFIXES: Mapping[str, Callable[[Lines], Lines]] = {
    "nothing": each(""),
    "white space": each("        "),
    "pytest": each("E   "),
    "pytest, deeper": each("E         "),
    "pytest, source": each(">       "),
    "quoted": each("> > "),
    "added": each("+"),
    "removed": each("-"),
    "a diff's context": each(" "),
    "pytest, diff": each("E     + "),
    "cat -n": numbered("{:6d}\t{}"),
    "grep -n": numbered("{}:{}"),
    "source": numbered("{:4d} | {}"),
    "bat": numbered("{:4d} │ {}"),
    "arrow": numbered("{}→{}"),
    "log": timed("2026-11-22T12:{:02d}:{:02d}.123Z {}"),
    "log with a level": timed("[12:{:02d}:{:02d}] INFO app.keys - {}"),
    "syslog": timed("Nov 22 12:{:02d}:{:02d} host app[4711]: {}"),
    "compose": each("web-1  | "),
    "strings": each("    '", "\\n'"),
    "strings in a sum": each('  "', '\\n" +'),
    "strings in an array": each('      "', '",'),
    "CRLF": each("", "\r"),
}


def one(line: str) -> Lines:
    return [line]


FORMS: Mapping[str, Callable[[Lines], Lines]] = {
    "lines": lambda lines: lines,
    "repr": lambda lines: one(repr("\n".join(lines) + "\n")),
    "repr of bytes": lambda lines: one(repr("\r\n".join(lines).encode())),
    "JSON": lambda lines: one(json.dumps({"key": "\n".join(lines)})),
    "JSON in JSON": lambda lines: one(json.dumps(json.dumps({"key": "\n".join(lines)}))),
    "JSON with escaped slashes": lambda lines: one(json.dumps({"key": "\n".join(lines)}).replace("/", "\\/")),
    "a list": lambda lines: one(repr(lines)),
    "folded": lambda lines: one(" ".join(lines)),
    "indented JSON": lambda lines: json.dumps(lines, indent=4).splitlines(),
}
FOLDED_FIELDS = ("folded", "a list")
"""Here a key's fields and its base64 stand in one line, and only its end says that they are a key's."""


def leaks(body: Lines, shown: str, size: int) -> Lines:
    plain = shown.replace("\\/", "/")
    return [line for line in body if any(line[at : at + size] in plain for at in range(len(line) - size + 1))]


@settings(max_examples=400)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    prefix=st.sampled_from(sorted(PREFIXES)),
    form=st.sampled_from(sorted(FORMS)),
    part=st.sampled_from(("whole", "without its end", "without its beginning")),
    size=st.integers(40, 2400),
    lead=st.integers(0, 20_000),
    data=st.data(),
)
def test_no_part_of_a_key_is_shown_however_it_is_printed(
    kind: str, prefix: str, form: str, part: str, size: int, lead: int, data: st.DataObject
) -> None:
    name, width, fields, checksum = KINDS[kind]
    body = body_of(size, width, seed=size)
    if part != "whole":
        # what is left of a key with its fields in the same line is as good as any text
        fields = [] if form in FOLDED_FIELDS else fields
        cut = data.draw(st.integers(1, len(body)))
        body = body[:cut] if part == "without its end" else body[-cut:]
        checksum = [] if part == "without its end" else checksum
    first = [f"-----BEGIN {name}-----", *fields] if part != "without its beginning" else []
    last = [*checksum, f"-----END {name}-----"] if part != "without its end" else []
    lines = PREFIXES[prefix](FORMS[form]([*first, *body, *last]))
    filler = (BEFORE + "\n") * (lead // len(BEFORE))
    text = "\n".join([filler + BEFORE, *lines, AFTER, ""])
    # a line of less than 16 characters shows too little of a key whose beginning or end is missing
    least = 8 if part == "whole" else 16
    shown = Redactor().mask(text)
    assert leaks(body, shown, least) == []
    assert MASK in shown or max(map(len, body)) < least
    assert shown.startswith(filler + BEFORE + "\n") and shown.endswith(f"\n{AFTER}\n")


@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_short_last_line_of_a_key_that_was_cut_off_is_hidden_too(prefix: str) -> None:
    body = ["a1B2" * 16, "c3D4" * 16, "e5F6=="]
    text = "\n".join(PREFIXES[prefix]([f"-----BEGIN {'EC'} PRIVATE KEY-----", *body]))
    assert leaks(body, Redactor().mask(text), 5) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "assert '-----BEGIN RSA PRIVATE KEY-----' in text\nE   see src/app/module/keys.py:12\n",
            "assert '***' in text\nE   see src/app/module/keys.py:12\n",
        ),
        ("-----BEGIN PUBLIC KEY-----\n" + "a1B2" * 16 + "\n", None),
        ("-----BEGIN CERTIFICATE-----\n" + "a1B2" * 16 + "\n-----END CERTIFICATE-----\n", None),
        ("12 | " + "a1B2" * 16 + "\n13 | end\n", None),
        (
            "-----BEGIN PRIVATE KEY----- is missing: internationalization\nfailed in 0123456789abcdef0123\n",
            "*** is missing: internationalization\nfailed in 0123456789abcdef0123\n",
        ),
        ("expected -----END EC PRIVATE KEY-----, found nothing\n", "expected ***, found nothing\n"),
    ],
)
def test_what_only_mentions_a_key_stays_readable(text: str, shown: str | None) -> None:
    assert Redactor().mask(text) == (text if shown is None else shown)


@pytest.mark.parametrize("form", FORMS)
def test_the_line_before_a_pgp_keys_short_last_line_and_checksum_is_hidden(form: str) -> None:
    body = ["a1B2" * 16, "c3D4"]
    text = "\n".join(FORMS[form]([*body, "=e5F6", f"-----END PGP {'PRIVATE'} KEY BLOCK-----"]))
    assert leaks(body, Redactor().mask(text), 16) == []


def test_nothing_of_a_key_larger_than_any_is_shown() -> None:
    body = body_of(60_000, 76, seed=1)
    lines = PREFIXES["log"](
        [f"-----BEGIN PGP {'PRIVATE'} KEY BLOCK-----", "", *body, f"-----END PGP {'PRIVATE'} KEY BLOCK-----"]
    )
    text = "\n".join([BEFORE, *lines, AFTER, ""])
    shown = Redactor().mask(text)
    assert leaks(body, shown, 12) == []
    assert shown.startswith(f"{BEFORE}\n") and shown.endswith(f"\n{AFTER}\n")


def test_nothing_of_a_key_that_never_ends_is_shown() -> None:
    line = "E   " + "a1B2" * 16 + "\n"
    assert "a1B2" not in Redactor().mask(f"-----BEGIN {'RSA'} PRIVATE KEY-----\n" + line * 20_000)


HEAD = f"-----BEGIN {'RSA'} PRIVATE KEY-----"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "\n" + ("E   " + "a1B2" * 16 + "\n") * 30_000,
        HEAD + ("\\n" + "a1B2" * 16) * 30_000,
        HEAD + " a1B2" * 400_000,
        HEAD + "\\" * 2_000_000,
        HEAD + "\n" * 2_000_000,
        ("x" * 200 + HEAD) * 8_000,
        (HEAD + "\n" + "a1B2" * 16) * 20_000,
        (HEAD.replace("BEGIN", "END") + "\n" + ("a1B2" * 16 + "\n") * 3) * 8_000,
        "a" * 2_000_000 + HEAD.replace("BEGIN", "END"),
        "-" * 2_000_000,
        "-----BEGIN " * 200_000,
        ("-----BEGIN " + "A" * 40) * 40_000,
    ],
    ids=str.__len__,
)
def test_looking_for_keys_is_linear(text: str) -> None:
    start = time.process_time()
    for _ in private_keys.key_spans(text):
        pass
    Redactor().mask(text[:200_000])
    # what grows with the square takes minutes
    assert time.process_time() - start < CPU_S


@pytest.mark.parametrize("encode", [quote, quote_plus, lambda text: quote(text, safe="")], ids=["path", "form", "all"])
@pytest.mark.parametrize("missing", [0, 3], ids=["whole", "without its end"])
def test_a_key_in_a_url_is_hidden(encode: Callable[[str], str], missing: int) -> None:
    body = body_of(1200, 64, seed=1)
    lines = [f"-----BEGIN RSA {'PRIVATE'} KEY-----", *body, f"-----END RSA {'PRIVATE'} KEY-----"]
    text = f"GET /keys?pem={encode(chr(10).join(lines[: len(lines) - missing]))} 404\n{AFTER}\n"
    shown = Redactor().mask(text)
    assert leaks([encode(line) for line in body], shown, 12) == []
    assert shown.startswith("GET /keys?pem=") and shown.endswith(f"\n{AFTER}\n")
