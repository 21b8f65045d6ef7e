"""JUnit reports as annotations, and what is no such report as a reason (spec A, Annotations; T33)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.failures.read_output import junit

TREE = "/t/shop"


def report(case: str, suite: str = 'name="s"') -> str:
    return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites><testsuite {suite}>{case}</testsuite></testsuites>'


def found(text: str) -> list[tuple[str, int, str, str, str]]:
    notes = junit(text, "test", TREE)
    assert isinstance(notes, tuple), notes
    return [(n.path, n.start_line, n.level, n.message, n.title) for n in notes]


def test_a_failure_is_told_where_its_text_says() -> None:
    text = "def test_add():\n&gt;   assert 1 == 2\nE   assert 1 == 2\n\ntests/test_a.py:7: AssertionError"
    case = f'<testcase classname="tests.test_a" name="test_add"><failure message="m">{text}</failure></testcase>'
    assert found(report(case)) == [("tests/test_a.py", 7, "failure", "assert 1 == 2", "test_add")]


def test_errors_count_and_skipped_and_passed_ones_do_not() -> None:
    cases = (
        '<testcase name="e"><error message="m">a.py:3: odd</error></testcase><testcase name="s"><skipped/></testcase>'
    )
    assert found(report(cases + '<testcase name="p" file="b.py" line="3"/>')) == [("a.py", 3, "failure", "odd", "e")]


@pytest.mark.parametrize(
    ("suite", "attributes", "place"),
    [
        ('name="s"', 'file="/t/shop/tests/ATest.php" line="9"', ("tests/ATest.php", 9)),
        ('name="pytest"', 'file="tests/test_a.py" line="4"', ("tests/test_a.py", 5)),
        ('name="pytest"', 'classname="tests.test_a.TestGroup"', ("tests/test_a.py", 1)),
        ('name="s" file="/t/shop/a.test.js"', 'classname="group"', ("a.test.js", 1)),
        ('name="/t/shop/src/a.test.ts"', 'classname="group"', ("src/a.test.ts", 1)),
    ],
)
def test_without_a_place_in_the_text_the_test_tells_its_own(
    suite: str, attributes: str, place: tuple[str, int]
) -> None:
    case = f'<testcase name="t" {attributes}><failure message="it failed">no place</failure></testcase>'
    assert found(report(case, suite)) == [(*place, "failure", "it failed", "t")]


def test_a_linters_row_has_line_level_and_rule() -> None:
    case = (
        '<testcase name="org.eslint.pkg.no-var" classname="/t/shop/src/a">'
        '<failure message="Unexpected var.">line 3, col 5, Warning - Unexpected var. (no-var)</failure></testcase>'
    )
    notes = junit(report(case, 'name="/t/shop/src/a.js"'), "lint", TREE)
    assert isinstance(notes, tuple)
    assert [(n.path, n.start_line, n.level, n.message, n.rule) for n in notes] == [
        ("src/a.js", 3, "warning", "Unexpected var.", "no-var")
    ]


def test_places_outside_the_tree_are_dropped() -> None:
    case = '<testcase name="t" file="../../etc/passwd" line="1"><failure>/etc/passwd:3: x</failure></testcase>'
    assert found(report(case)) == []


def test_colours_and_characters_that_xml_cannot_hold_do_no_harm() -> None:
    case = '<testcase name="t"><failure message="&#x1b;[31mm">&#27;[31ma.py:3:\x1b[0m bad\x08</failure></testcase>'
    assert [place[:2] for place in found(report(case))] == [("a.py", 3)]


def test_no_more_are_read_than_asked_for_and_each_once() -> None:
    cases = "".join(f'<testcase name="t"><failure>a.py:{line}: x</failure></testcase>' for line in range(1, 99))
    read = junit(report(cases + cases), "test", TREE, 20)
    assert isinstance(read, tuple)
    assert len(read) == 20
    assert len(found(report(cases + cases))) == 98


PIECES = st.sampled_from(
    (
        *("<testsuites>", "<testsuite name='a.py'>", "</testsuite>", "<testcase name='t' file='a.py' line='99999999'>"),
        *("</testcase>", "<failure message='a.py:1: x'>", "</failure>", "a.py:3:4: bad\n", "line 3, col 4, Error - x"),
        *("<![CDATA[", "]]>", "&lt;", "&#0;", "&x;", "\x00", "\ud800", "</testsuites>"),
    )
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_gives_valid_annotations_or_a_reason(text: str) -> None:
    for whole in (text, report(f"<testcase name='t'><failure>{text}</failure></testcase>")):
        read = junit(whole, "test", TREE)
        for note in read if isinstance(read, tuple) else ():
            assert 1 <= note.start_line <= note.end_line
            assert note.message
