"""The catalogue: one look-up for all sentences, which fails where a key or a value is missing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import bot
from bot.reports.locale import catalog
from bot.reports.locale.catalog import CATALOGUE, t

CODE = sorted(Path(bot.__file__).parent.rglob("*.py"))


def keys_asked_for() -> Iterator[tuple[str, str]]:
    """Where a sentence is looked up, and a pattern of the keys that are asked for there."""
    for path in CODE:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if not any(
            isinstance(node, ast.ImportFrom) and node.module == "bot.reports.locale.catalog" for node in tree.body
        ):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("t", "count"):
                for pattern in patterns(node.args[1]):
                    one = r"(\.one)?" if node.func.id == "count" else ""
                    yield f"{path.name}:{node.lineno}", pattern + one


def patterns(key: ast.expr) -> Iterator[str]:
    match key:
        case ast.Constant():
            yield re.escape(str(key.value))
        case ast.IfExp():
            yield from patterns(key.body)
            yield from patterns(key.orelse)
        case ast.JoinedStr():
            yield "".join(re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in key.values)


def test_every_key_that_the_code_names_is_in_the_catalogue() -> None:
    keys = "\n".join(CATALOGUE["en"].keys() | CATALOGUE["ko"].keys())
    asked = list(keys_asked_for())
    assert len(asked) > 300
    assert [at for at in asked if not re.search(f"^{at[1]}$", keys, re.MULTILINE)] == []


def test_no_two_tables_have_the_same_key() -> None:
    for language, catalogue in CATALOGUE.items():
        assert len(catalogue) == sum(len(table[language]) for table in catalog._TABLES.values())


def test_a_key_that_there_is_not_and_a_value_that_is_missing_are_errors() -> None:
    assert t("en", "refused.group_full", most=3) == "a group holds at most 3 issues"
    for key in ("group_full", "refused.group_ful", "refused.group_full"):
        with pytest.raises(KeyError):
            t("en", key)
