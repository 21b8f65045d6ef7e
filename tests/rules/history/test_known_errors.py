"""Which files an error is about, and what a resolution still counts after it was shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rules.failures.normalize import normalize_error
from bot.rules.history.known_errors import base_name, file_names, is_spent, weight


@pytest.mark.parametrize(
    ("error", "names"),
    [
        ("src/deep/index.ts(3,4): error TS2345: no", ("index.ts",)),
        ("FAILED tests/test_a.py::test_b - AssertionError", ("test_a.py",)),
        ('  File "/opt/my app/main file.py", line 3, in f', ("main file.py",)),
        ("/build/Makefile:3: *** missing separator.", ("Makefile",)),
        ("Cannot find module './util.js' from 'src/app.tsx'.", ("util.js", "app.tsx")),
        ("open C:\\src\\config.yml: no such file.", ("config.yml",)),
        ("see /opt/notes.txt.", ("notes.txt",)),
        ("expected 3.11, got 2.7", ()),
        ("a.py:1:1: UP035 `typing.Dict` is deprecated, see typing.List", ("a.py",)),
        ("report.Rmd: object 'x' not found in src/Makefile.Linux", ("report.Rmd", "Makefile.Linux")),
        ("", ()),
    ],
)
def test_the_files_that_an_error_names(error: str, names: tuple[str, ...]) -> None:
    assert file_names(normalize_error(error)) == names


def test_files_given_come_first_and_each_name_is_there_once() -> None:
    assert file_names("index.ts: no", ["src/b.py", "C:\\x\\index.ts", "lib/", "y" * 300]) == ("b.py", "index.ts")
    assert len(file_names("", (f"{number}.py" for number in range(1000)))) == 50


@given(st.text(alphabet="ab./\\ <PATH>'\":\n", max_size=200), st.lists(st.text()))
def test_names_are_base_names_whatever_the_text(error: str, paths: list[str]) -> None:
    for name in file_names(normalize_error(error), paths):
        assert name == base_name(name) != ""


def test_guidance_loses_weight_by_attempts_that_fail_alone() -> None:
    assert weight(0, 0) == weight(5, 5) == 1
    assert [is_spent(shown, 0) for shown in range(5)] == [False, False, False, True, True]
    assert not is_spent(6, 1)
