"""People are shown an error as it can be read; what it is found again by is no text for them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.format.error_line import readable
from bot.rules.failures.normalize import normalize_error

MASK = re.compile("<(?:PATH|TIME|ID|ADDR|PORT|TMP|POS|STR|N)>")
_PIECES = [
    "<PATH>",
    "<PATH>/",
    "<POS>",
    "<TIME>",
    "<ID>",
    "<N>",
    "<STR>",
    "<TMP>",
    "(<POS>)",
    ":<POS>",
    " (<TIME>)",
    "E ",
    " ",
]
_PIECES += ["col ", "a.py", ": no", "> ", "<", "PATH", "\x1b[31m", "\0", "\n", ",", "|", "…"]
_KEYS = st.lists(st.sampled_from(_PIECES) | st.text(max_size=4), max_size=9).map("".join)
_LINES = st.sampled_from(["/srv/a.py:3:7: E501 no", "12:00:01 boom", "at 0x7fff12345678", "pid 4711", "/tmp/", "::"])


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("<PATH>/cart.py:<POS>: E501 line too long", "cart.py: E501 line too long"),
        ("<PATH>/a.ts(<POS>): error TS2345: no", "a.ts: error TS2345: no"),
        ("E assert 0 == 4", "assert 0 == 4"),
        ("✕ adds (<TIME>)", "✕ adds"),
        ("× adds <TIME>", "× adds"),
        ("--- FAIL: TestA (<TIME>)", "--- FAIL: TestA"),
        ("no such file: '<PATH>/data.json' after <TIME> (pid <ID>)", "no such file: 'data.json' after … (pid …)"),
        ("Expecting value: line <POS> column <POS> (char <POS>)", "Expecting value: line …"),
        ("usage: cp <FROM> <TO>", "usage: cp <FROM> <TO>"),
        (normalize_error("x" * 196 + " 12:00:01 no"), "x" * 196 + " …"),
        ("<TIME>", "…"),
        ("<PATH>/<TMP>:<POS>", "…"),
        ("<PATH>/:<POS>", "…"),
        ("", ""),
    ],
)
def test_the_masks_of_a_key_are_taken_out(key: str, shown: str) -> None:
    assert readable(key) == shown


def test_what_the_tool_printed_is_shown_by_its_first_line() -> None:
    assert readable("<PATH>/a.py:<POS>: no", "\nE   /srv/a.py:3: no\nmore") == "/srv/a.py:3: no"
    assert readable("<PATH>/a.py:<POS>: no", "<PATH>/a.py:<POS>: no") == "a.py: no"
    assert len(readable("x", "y" * 10_000)) == 2_000
    assert "\x1b" not in readable("x", "\x1b[31mred\x1b[0m\u202e")


def test_a_key_that_was_recorded_for_want_of_the_line_is_shown_as_a_key() -> None:
    key = normalize_error("wrong.txt:1: error: it is broken")
    assert readable(key, key) == "wrong.txt: error: it is broken"
    assert readable(key, "wrong.txt:1: error: it is broken") == "wrong.txt:1: error: it is broken"


@given(key=_KEYS | st.text() | _LINES.map(normalize_error), raw=st.none() | st.text())
def test_whatever_the_key_is_a_person_is_shown_something_and_no_mask(key: str, raw: str | None) -> None:
    shown = readable(key, key if raw is None else raw)
    assert shown == "\n".join(shown.splitlines()).strip()
    assert len(shown) <= 2_000
    assert not MASK.search(readable(key)) and not MASK.search(readable(key, key))
    has_text = bool(re.search(r"\w", re.sub("\x1b.*", "", key)))
    assert shown or not has_text
