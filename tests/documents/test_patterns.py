"""Regular expressions mean the same on every Python 3.11: up to 3.11.4 `re` mismatches some possessive groups (CPython
issue 106052), Debian 12's 3.11.2 among them, while possessive repeats of a single character are sound."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from bot.rules.tampering.test_source import parse_tests

ROOT = Path(__file__).parents[2]
SINGLE = (ops.LITERAL, ops.NOT_LITERAL, ops.IN, ops.ANY)


def unsound(parsed: Any) -> bool:
    """Whether a pattern holds an atomic group, or a possessive repeat of more than one character."""
    if isinstance(parsed, parser.SubPattern):
        for op, value in parsed:
            if op is ops.ATOMIC_GROUP:
                return True
            if op is ops.POSSESSIVE_REPEAT and [inner for inner, _ in value[2]] not in [[one] for one in SINGLE]:
                return True
            if unsound(value):
                return True
    return isinstance(parsed, tuple | list) and any(unsound(part) for part in parsed)


def patterns(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list | frozenset | set):
        for part in value:
            yield from patterns(part)
    elif isinstance(value, dict):
        for part in (*value.keys(), *value.values()):
            yield from patterns(part)


def modules() -> Iterator[str]:
    for path in sorted(path for name in ("bot", "demo") for path in (ROOT / name).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if not {"samples", "migrations", "__main__"} & set(parts):
            yield ".".join(parts).removesuffix(".__init__")


def test_no_pattern_of_ours_has_a_possessive_group() -> None:
    seen, wrong = 0, set()
    for name in modules():
        for value in vars(importlib.import_module(name)).values():
            for pattern in patterns(value):
                seen += 1
                if unsound(parser.parse(pattern.pattern, pattern.flags)):
                    wrong.add(f"{name}: {pattern.pattern}")
    assert seen > 100
    assert wrong == set()


@pytest.mark.parametrize(
    ("pattern", "sound"),
    [("[^x]*+y++.?+", True), ("(?:ab)*+", False), ("(?:a|bc){2,3}+", False), ("x(?=(?>a|b))", False), ("(a+b)*", True)],
)
def test_possessive_groups_are_told_from_possessive_characters(pattern: str, sound: bool) -> None:
    assert unsound(parser.parse(pattern)) is not sound


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.test.js", "it.each`a|b`('adds', () => {})\n", ["adds"]),
        ("a.test.js", "it.each`a|b`(x, () => {})\nit('one', f)\n", ["one"]),
        ("a.rs", "#[test]\n#[ignore]\n#[should_panic]\npub async fn works() {\n}\n", ["works"]),
        ("a.rs", "#[test]\npub #[a] fn works() {\n}\n#[test] #[ oops fn f\n", ["works"]),
    ],
)
def test_cases_are_found_alike_on_every_python(path: str, text: str, names: list[str]) -> None:
    assert [case.name for case in parse_tests(path, text).cases] == names
