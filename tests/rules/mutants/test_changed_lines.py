"""Which lines of a changed file count as changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rules.mutants.changed_lines import changed_lines

BASE = "a\nb\n\nc\nd\n"


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (None, "a\n\nb\n", {1, 3}),
        (None, "", set()),
        ("", "a\n", {1}),
        (BASE, BASE, set()),
        (BASE, BASE.replace("b", "x"), {2}),
        (BASE, "new\n" + BASE, {1}),
        (BASE, BASE + "new\n", {6}),
        # where `c` was, the lines around it may behave differently
        (BASE, "a\nb\n\nd\n", {2, 4}),
        (BASE, "b\n\nc\nd\n", {1}),
        (BASE, "a\nb\n\nc\n", {4}),
        (BASE, "", set()),
        # white space at the end of lines changes nothing, at their beginning it may
        (BASE, BASE.replace("\n", "\r\n"), set()),
        (BASE, BASE.replace("a", "a  "), set()),
        (BASE, BASE.replace("c", "  c"), {4}),
        # no other character ends a line for a parser
        ("a\fb\nc\n", "a\fb\nd\n", {2}),
        ("a\u2028b\nc\n", "a\u2028b\nd\n", {2}),
    ],
)
def test_lines_that_are_new_differ_or_stand_where_others_were_deleted(
    before: str | None, after: str, lines: set[int]
) -> None:
    assert changed_lines(before, after) == lines


TEXTS = st.lists(st.sampled_from(["a", "b", "", "  a", "c"]), max_size=12).map("\n".join)


@given(TEXTS, TEXTS)
def test_every_line_that_is_not_changed_was_there_before(before: str, after: str) -> None:
    changed = changed_lines(before, after)
    old = before.split("\n")
    for number, line in enumerate(after.split("\n"), start=1):
        assert number in changed or line.rstrip() in [other.rstrip() for other in old] or not line.strip()
    assert bool(changed) or before.split() == after.split() or not after.strip()
