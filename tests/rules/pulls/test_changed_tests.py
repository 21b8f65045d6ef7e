"""Tests that a pull request adds or alters are found by their text, under the names of their runner."""

from __future__ import annotations

import pytest

from bot.rules.pulls.changed_tests import changed_cases, changed_tests
from bot.rules.tampering.weakened_tests import FileTexts

BEFORE = "def test_a():\n    assert f(1) == 1\n\n\ndef test_b():\n    assert f(2) == 2\n"
AFTER = BEFORE.replace("f(2) == 2", "f(2) == 3") + "\n\ndef test_c():\n    assert f(3) == 3\n"
NODE = "test('adds up', () => {\n  assert.equal(add(1, 2), 3);\n});\n"


def test_new_and_altered_tests_are_changed_and_the_others_are_not() -> None:
    files = [FileTexts("tests/test_f.py", BEFORE, AFTER), FileTexts("tests/test_g.py", BEFORE, BEFORE)]
    assert changed_cases(files) == {"tests/test_f.py": {"test_b", "test_c"}}
    assert changed_cases([FileTexts("tests/test_f.py", BEFORE, None)]) == {}
    assert changed_cases([FileTexts("tests/test_f.py", None, BEFORE)]) == {"tests/test_f.py": {"test_a", "test_b"}}


def test_a_change_of_code_or_of_the_layout_changes_no_test() -> None:
    assert changed_cases([FileTexts("src/f.py", "a = 1\n", "a = 2\n")]) == {}
    assert changed_cases([FileTexts("tests/test_f.py", BEFORE, f"{BEFORE}\n\n")]) == {}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("tests/test_f.py::test_b", True),
        ("tests/test_f.py::TestF::test_b", True),
        ("tests/test_f.py::test_b[2 - x]", True),
        ("test_f.py::test_c", True),  # the runner's own directory
        ("tests/test_f.py::test_a", False),
        ("tests/test_g.py::test_b", False),
        ("tests/test_f.py::test_not_test_b", False),
        ("other/test_f.py::test_a", False),
    ],
)
def test_a_test_is_found_by_its_file_and_name(name: str, found: bool) -> None:
    cases = changed_cases([FileTexts("tests/test_f.py", BEFORE, AFTER)])
    assert changed_tests([name, name], cases) == ((name,) if found else ())


def test_a_title_is_found_below_those_around_it() -> None:
    cases = changed_cases([FileTexts("test/calc.test.js", None, NODE)])
    assert changed_tests(["adds up", "calc adds up", "calc > adds up", "badds up"], cases) == (
        "adds up",
        "calc adds up",
        "calc > adds up",
    )
