"""A finding is known where its message stands in a known error's text, whatever its tool printed around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import Annotation, KnownError, Resolution
from bot.rules.failures.errors import fingerprints
from bot.rules.failures.normalize import LIMIT, normalize_error
from bot.rules.history.recognition import TELLING, recognised

UNUSED = "`os` imported but unused"


def finding(message: str, path: str = "shop/cart.py") -> Annotation:
    return Annotation(path=path, start_line=3, end_line=3, level="failure", message=message)


def known(*errors: str) -> tuple[KnownError, ...]:
    return tuple(KnownError(id=at, error=error, resolution=Resolution()) for at, error in enumerate(errors, 1))


def ids(message: str, *errors: str, path: str = "shop/cart.py") -> list[int]:
    return [match.id for _, match in recognised([finding(message, path)], known(*errors))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("shop/cart.py:3:1: F401 `os` imported but unused", UNUSED),
        ("src/index.ts(3,5): error TS2345: Argument of type 'a' is bad.", "Argument of type 'a' is bad."),
        ('shop/cart.py:12: error: Missing "x" in /srv/app/y.py  [call-arg]', 'Missing "x" in /home/ann/y.py'),
    ],
)
def test_a_finding_is_known_by_what_its_tool_printed(line: str, message: str) -> None:
    """REQ-RA-312: the failing line; REQ-RA-310: both sides are normalised."""
    assert ids(message, *fingerprints(line)) == [1]


def test_the_one_of_the_findings_own_file_comes_first() -> None:
    errors = ("<PATH>/b.py:<POS>: F401 `os` imported but unused", "<PATH>/a.py:<POS>: F401 `os` imported but unused")
    assert ids(UNUSED, *errors, path="x/a.py") == [2]
    assert ids(UNUSED, *errors, path="x/c.py") == [1]


def test_a_message_of_several_lines_is_known_by_its_first() -> None:
    assert ids("\nassert None == 0\n+ where None = total([])", "E assert None == 0") == [1]


def test_short_messages_and_parts_of_words_say_nothing() -> None:
    assert ids("error", "error: it broke") == []
    assert ids("dex is missing", "index is missing") == []
    assert ids("–", "–") == []
    assert recognised([finding("a real message")], ()) == ()


def test_a_text_that_was_cut_is_known_by_what_is_left_of_it() -> None:
    message = "the value " + "of the thing " * 20 + "is wrong"
    error = normalize_error(f"shop/cart.py:3:1: E1 {message}")
    assert len(error) >= LIMIT - 1 and ids(message, error) == [1]
    assert ids(message.replace("thing", "thong"), error) == []


@given(st.text(min_size=TELLING, max_size=80), st.text(max_size=80))
def test_any_text_is_looked_for_without_an_error(message: str, error: str) -> None:
    assert len(ids(message, error)) <= 1
