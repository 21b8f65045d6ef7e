"""The parts of the names of tests, as runners print them."""

from __future__ import annotations

import pytest

from bot.rules.test_runners.names import Titles, titles


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("adds", Titles("", ("adds",))),
        ("adds (2)", Titles("", ("adds",), number=True)),
        ("src/a.test.js › sums › adds", Titles("src/a.test.js", ("sums", "adds"))),
        ("a.spec.ts > sums > adds (12)", Titles("a.spec.ts", ("sums", "adds"), number=True)),
        ("sums > adds", Titles("", ("sums", "adds"))),
        ("test/a.js::sums > adds", Titles("test/a.js", ("sums", "adds"))),
        ("tests/test_a.py::TestA::test_b[1]", Titles("tests/test_a.py", ("test_b[1]",))),
        ("calls Foo::bar", Titles("", ("calls Foo::bar",))),
        ("test_a (tests.test_x.TestX.test_a)", Titles("", ("tests.test_x.TestX.test_a",))),
        ("test_a (tests.test_x.TestX)", Titles("", ("tests.test_x.TestX.test_a",))),
        ("a.js", Titles("", ("a.js",))),
    ],
)
def test_the_parts_of_a_name(name: str, expected: Titles) -> None:
    assert titles(name) == expected
