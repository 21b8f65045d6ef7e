"""Lines of a log that name a place, and the paths of such places."""

from __future__ import annotations

import pytest

from bot.rules.failures.places import named_places, relative_path

TREE = "/t/shop"


@pytest.mark.parametrize(
    ("path", "relative"),
    [
        ("./a/./b.py", "a/b.py"),
        ("/t/shop/a.py", "a.py"),
        ("a\\b.cs", "a/b.cs"),
        ("file:///t/shop/a.js", "a.js"),
        ("a/b/../c.py", "a/c.py"),
        ("/t/shop", None),
        ("C:\\other\\a.cs", None),
        ("..", None),
        ("a\x00b.py", None),
        ("", None),
    ],
)
def test_paths_are_made_relative_to_the_tree(path: str, relative: str | None) -> None:
    assert relative_path(path, TREE) == relative
    assert relative_path(path, TREE + "/") == relative


def test_each_place_has_its_line_and_what_lies_outside_the_tree_has_no_path() -> None:
    lines = ["collecting", "src/a.py:3:1: E501 too long", "/usr/lib/b.py:7:1: E501 too long", "done"]
    found = list(named_places(lines, TREE))
    assert [(place.at, place.path, place.finding.line) for place in found] == [(1, "src/a.py", 3), (2, None, 7)]
