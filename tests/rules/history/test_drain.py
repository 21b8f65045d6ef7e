"""Which errors have one template: the words that vary become wildcards, those that distinguish errors never do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rules.failures.normalize import normalize_error
from bot.rules.history.drain import Leaf, position, same_template


def alike(one: str, other: str) -> bool:
    first, second = position(one), position(other)
    return first.leaf == second.leaf and same_template(first.words, [second.words]) == (0,)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("app.py:3:4: error: Unused import requests", "lib/cart.py:9:1: error: Unused import flask"),
        ("Access to a protected member _a of a client", "Access to a protected member _total of a client"),
        ("FAILED t.py::test_a - ValueError: no price for tea", "FAILED t.py::test_a - ValueError: no price for rum"),
    ],
)
def test_a_word_that_varies_makes_no_other_template(one: str, other: str) -> None:
    """REQ-RA-310."""
    assert alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.ts(1,2): error TS2345: cannot assign the value", "a.ts(1,2): error TS2322: cannot assign the value"),
        ("KeyError: no price is known for tea", "ValueError: no price is known for tea"),
        ("Too few public methods here", "Too many public methods here"),
        ("the server must be started first", "the server must not be started first"),
        ("FAILED t.py::test_a - no price for tea", "FAILED t.py::test_b - no price for tea"),
        ("missing price", "missing name"),
        ("Unused variable alpha", "Unused argument alpha"),
        ("one two three four five six", "one two three four seven eight nine"),
        ("one two three and four five six", "one two three and seven eight nine ten"),
        ("colour of the first house there", "weight of some other horse now"),
    ],
)
def test_what_distinguishes_errors_makes_another_template(one: str, other: str) -> None:
    assert not alike(one, other)


def test_a_template_that_has_varied_fits_more_than_the_first_error_did() -> None:
    texts = ("name a of module one is unused", "name b of module one is unused", "name c of module two is unused")
    first, second, third = (position(text).words for text in texts)
    leaf = Leaf()
    assert [leaf.add(first), leaf.add(second), leaf.find(third)] == [0, 0, 0]
    other = position("words that are quite another thing here").words
    assert same_template(third, [first, other, second]) == (0, 2)


def test_of_several_templates_the_most_similar_is_taken() -> None:
    texts = (
        "load file a with care now please",
        "load disk b with speed now please",
        "load disk a with speed now please",
    )
    first, second, third = (position(text).words for text in texts)
    leaf = Leaf()
    assert [leaf.add(first), leaf.add(second), leaf.find(third)] == [0, 1, 1]


@given(st.lists(st.text(max_size=250), min_size=1, max_size=6))
def test_any_texts_can_be_learned_and_a_normalised_text_has_the_same_position(texts: list[str]) -> None:
    for text in texts:
        assert position(text) == position(normalize_error(text))
    places = [position(text) for text in texts]
    same = [place.words for place in places if place.leaf == places[0].leaf]
    assert all(index < len(same) for index in same_template(places[0].words, same))
