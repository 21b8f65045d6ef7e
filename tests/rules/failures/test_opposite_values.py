"""The looser key takes no error for its opposite, and still finds the same error with other values (REQ-RA-310)."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bot.rules.failures.normalize import loose_key

COMPARING = (
    "AssertionError: expected {} to equal {}",
    "expected {}, got {}",
    "Expected: {} Received: {}",
    "assert {} == {}",
    "E   assert {} != {}",
    "want {}, got {}",
    "assert_eq failed: left: {} right: {}",
    "error TS2322: Type {} is not assignable to type {}.",
    "app.py:3: error: Incompatible types in assignment (expression has type {}, variable has type {})",
    "expected {} to be less than {}",
    "wrong order: {} before {}",
    "FAILED tests/test_a.py::test_sum - AssertionError: got {} instead of {}",
)
"""Messages in which exchanging the two values gives the opposite."""
COUNTING = (
    "TypeError: f() takes {} positional arguments but {} were given",
    "error TS2554: Expected {} arguments, but got {}.",
    "not enough values to unpack (expected {}, got {})",
    "function takes {} arguments but {} arguments were supplied",
    "ValueError: needs at least {} items, got {}",
)
TURNED = (
    "ReferenceError: {} defined",
    "AssertionError: expected {} to hold",
    "FAILED tests/test_a.py::test_it - assert {}",
    "error: condition `{}` does not hold",
    "the check 'x {}' failed",
    'AssertionError: "{}"',
)
PAIRS = (
    ("true", "false"),
    ("is", "is not"),
    ("a < b", "a > b"),
    ("a <= b", "a >= b"),
    ("a == b", "a != b"),
    ("x<3", "x>3"),
    ("x is None", "x is not None"),
    ("missing", "unexpected"),
    ("too short", "too long"),
    ("added", "removed"),
    ("before", "after"),
    ("null", "not null"),
    ("x in y", "x not in y"),
)
SIGNS = (("<", ">"), ("<=", ">="), ("==", "!="), ("(", ")"), ("+", "-"))
WORDS = (
    *("true false", "True False", "enabled disabled", "missing unexpected", "short long", "added removed"),
    *("before after", "none some", "open closed", "allow deny", "min max", "null object", "string number"),
)
VALUES = st.text(alphabet="abcdefghijklmnop", min_size=1, max_size=6)
NUMBERS = st.integers(0, 99_999)


@given(st.sampled_from(COMPARING), st.sampled_from("'\"`"), VALUES, VALUES)
def test_two_texts_that_change_places_are_the_opposite(message: str, quote: str, one: str, other: str) -> None:
    assume(one != other)
    first, second = (f"{quote}{value}{quote}" for value in (one, other))
    assert loose_key(message.format(first, second)) != loose_key(message.format(second, first))


@given(st.sampled_from((*COMPARING, *COUNTING)), NUMBERS, NUMBERS)
def test_two_numbers_that_change_places_are_the_opposite(message: str, one: int, other: int) -> None:
    """REQ-RA-310."""
    assume(one != other)
    assert loose_key(message.format(one, other)) != loose_key(message.format(other, one))


@pytest.mark.parametrize("message", TURNED)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_sentence_that_is_turned_round_is_the_opposite(message: str, one: str, other: str) -> None:
    assert loose_key(message.format(one)) != loose_key(message.format(other))


@pytest.mark.parametrize(("one", "other"), [*SIGNS, *(tuple(pair.split()) for pair in WORDS)])
@pytest.mark.parametrize("message", ["error TS1005: '{}' expected.", 'found "{}" here', "expected `{}` of it"])
def test_an_opposed_sign_or_word_in_quotes_stays(message: str, one: str, other: str) -> None:
    assert loose_key(message.format(one)) != loose_key(message.format(other))


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.sampled_from(COUNTING))
def test_other_figures_of_the_same_order_are_the_same_error(a: int, b: int, c: int, d: int, message: str) -> None:
    (a, b), (c, d) = sorted((a, b)), sorted((c, d))
    assume(a != b and c != d)
    assert loose_key(message.format(a, b)) == loose_key(message.format(c, d))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ReferenceError: 'total' is not defined", "ReferenceError: 'count' is not defined"),
        ("TS2339: Property 'a' does not exist on type 'Z'", "TS2339: Property 'y' does not exist on type 'B'"),
        ("KeyError: 'id' in row 7 of 20", "KeyError: 'name' in row 12 of 3"),
        ("cannot import name 'x' from 'a.b'", "cannot import name 'load' from 'zeta'"),
        ("error: unused variable: `Vec<u8>`", "error: unused variable: `x`"),
        ("rule 'no-var' at 3", "rule 'quotes' at 4"),
    ],
)
def test_other_names_and_figures_are_still_the_same_error(one: str, other: str) -> None:
    assert loose_key(one) == loose_key(other)
