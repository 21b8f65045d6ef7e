"""Which changed files make a pull request worth checking: a .gitignore's reading, with `!` to exclude."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rules.pulls.path_filter import wanted
from tests.machine import CPU_S

NAMES = st.sampled_from(["a", "b", "src", "docs", "x.py", "y.md"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
GLOBS = st.lists(st.sampled_from(["a", "src", "*", "**", "*.py", "?", "docs"]), min_size=1, max_size=4).map("/".join)
PATTERNS = st.lists(st.builds("".join, st.tuples(st.sampled_from(["", "!"]), GLOBS)), max_size=4)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src", "src/a/b.py", True),
        ("src/", "src/a.py", True),
        ("src", "lib/src/a.py", True),
        ("src", "srcs/a.py", False),
        ("src/*", "src/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/a/b/c.py", True),
        ("src/**", "src/a/b.md", True),
        ("src/**", "src", False),
        ("**/src/*.py", "src/a.py", True),
        ("src/*.py", "lib/src/a.py", False),
        ("*.py", "a/b/c.py", True),
        ("?.py", "a/b.py", True),
        ("?.py", "ab.py", False),
        ("a/?/c", "a/b/c", True),
        ("a/?/c", "a//c", False),
        ("README.md", "docs/readme.MD", True),
    ],
)
def test_a_pattern_names_files_as_a_gitignore_does(pattern: str, path: str, expected: bool) -> None:
    assert wanted([pattern], [path]) is expected
    assert wanted([f"!{pattern}"], [path]) is not expected


def test_one_wanted_file_is_enough() -> None:
    assert wanted(["src"], ["docs/a.md", "src/a.py"])
    assert not wanted(["src"], ["docs/a.md", "a.py"])


def test_the_last_pattern_that_matches_decides() -> None:
    assert not wanted(["src", "!src/vendor"], ["src/vendor/a.py"])
    assert wanted(["src", "!src/vendor", "src/vendor/ours.py"], ["src/vendor/ours.py"])
    assert not wanted(["!docs", "src"], ["README"])


def test_patterns_that_all_exclude_ask_for_every_other_file() -> None:
    assert wanted(["!docs", "!*.md"], ["docs/a.txt", "b.md", "c.py"])
    assert not wanted(["!docs", "!*.md"], ["docs/a.txt", "b.md"])


def test_no_patterns_ask_for_every_request_and_patterns_for_none_without_files() -> None:
    assert wanted([], [])
    assert wanted([], ["a"])
    assert not wanted(["**"], [])
    assert not wanted(["!a"], [])


@given(PATTERNS, st.lists(PATHS, max_size=4), st.lists(PATHS, max_size=4))
def test_files_are_judged_one_by_one(patterns: list[str], some: list[str], others: list[str]) -> None:
    both = wanted(patterns, some + others)
    assert both is (wanted(patterns, some) or wanted(patterns, others) if patterns else True)


@given(PATTERNS, GLOBS, PATHS)
def test_a_last_pattern_that_matches_has_its_way(patterns: list[str], glob: str, path: str) -> None:
    if wanted([glob], [path]):
        assert wanted([*patterns, glob], [path])
        assert not wanted([*patterns, f"!{glob}"], [path])


@given(st.lists(st.text(max_size=20), max_size=4), st.lists(st.text(max_size=20), max_size=4))
def test_any_text_is_a_pattern_and_a_path(patterns: list[str], paths: list[str]) -> None:
    assert wanted(patterns, paths) in (True, False)


def test_hostile_patterns_take_no_time() -> None:
    start = time.process_time()
    assert not wanted(["/".join(["**", "*a*a*a*a*b"] * 12)], ["/".join(["a" * 200] * 40)] * 20)
    assert time.process_time() - start < CPU_S


def test_a_path_may_have_thousands_of_parts() -> None:
    path = "a/" * 2_000 + "b"
    assert wanted(["**/b"], [path])
    assert not wanted(["a/**/c"], [path])
    assert wanted(["a"], [path])
