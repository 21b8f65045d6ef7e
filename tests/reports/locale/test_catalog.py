"""The catalog: both languages have the same messages with the same fields, and every message is one that is used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import bot
from bot.model import Language
from bot.reports.locale import catalog
from bot.reports.locale.catalog import has_message, messages, t

CODE = sorted(Path(bot.__file__).parent.rglob("*.py"))
LOCALE = Path(catalog.__file__).parent
TEMPLATES = sorted((Path(bot.__file__).parent / "web" / "pages" / "templates").glob("*.html"))
_IN_TEMPLATE = re.compile(r"""\bt\(["'](?P<key>[\w.]+)["'](?P<more> ~)?""")
"""A call of the catalog in a template; `~` appends the rest of the key."""
_FORM = re.compile(r"\.(one|long|none)$")
"""Ends of keys that the code puts behind another key."""

LANGUAGES: tuple[Language, ...] = get_args(Language)


@cache
def looked_up() -> tuple[tuple[str, ast.Call], ...]:
    """Every call of the catalog, with the name of its file."""
    found = []
    for path in CODE:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
        if "bot.reports.locale.catalog" in imports or path.parent == LOCALE:
            calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
            found += [(f"{path.name}:{call.lineno}", call) for call in calls if call.func.id in ("t", "has_message")]
    return tuple(found)


def patterns(key: ast.expr) -> Iterator[str]:
    match key:
        case ast.Constant(str(value)):
            yield re.escape(value)
        case ast.IfExp():
            yield from patterns(key.body)
            yield from patterns(key.orelse)
        case ast.JoinedStr():
            yield "".join(re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in key.values)


@cache
def keys_of_templates() -> tuple[tuple[str, str], ...]:
    """Every key in the templates of the pages as a pattern, with the name of its file."""
    return tuple(
        (path.name, re.escape(call["key"]) + (".+" if call["more"] else ""))
        for path in TEMPLATES
        for call in _IN_TEMPLATE.finditer(path.read_text(encoding="utf-8"))
    )


@cache
def strings_of_reports() -> tuple[re.Pattern[str], ...]:
    """Every text in the code that looks like a key or a part of one: keys are also kept in variables and tables."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in CODE if "bot/reports" in path.as_posix())
    texts = {text for tree in trees for node in ast.walk(tree) if isinstance(node, ast.expr) for text in patterns(node)}
    texts |= {text for _, call in looked_up() for text in patterns(call.args[-1])}
    texts |= {text for _, text in keys_of_templates()}
    return tuple(re.compile(text) for text in texts if re.match(r"[a-z_]{3,}", text) and " " not in text)


def fields(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def test_every_language_has_the_same_messages_with_the_same_fields() -> None:
    assert {path.name for path in LOCALE.iterdir() if path.is_dir() and path.name[0] != "_"} == set(LANGUAGES)
    english = messages("en")
    for language in LANGUAGES:
        found = messages(language)
        assert {key for key in english if key not in found and not key.endswith(".one")} == set(), language
        assert found.keys() <= english.keys(), language
        for key, text in found.items():
            allowed = fields(english[key]) | fields(english[key.removesuffix(".one")]) | {"count", "file"}
            assert fields(text) <= allowed, (language, key)
            needed = set() if key.endswith(".one") or key.startswith("pull_check.month") else fields(english[key])
            assert needed - fields(text) <= {"file"}, (language, key)


def test_every_key_that_the_code_names_is_in_the_catalog() -> None:
    keys = "\n".join(messages("en"))
    asked = [(at, text) for at, call in looked_up() for text in patterns(call.args[-1])]
    assert len(asked) > 300
    asked += keys_of_templates()
    assert [at for at in asked if not re.search(f"^{at[1]}$", keys, re.MULTILINE)] == []


def test_every_message_is_one_that_the_code_names() -> None:
    unused = [
        key
        for key in messages("en")
        if not key.startswith("reason.")
        and not any(pattern.fullmatch(name) for pattern in strings_of_reports() for name in (key, _FORM.sub("", key)))
    ]
    assert unused == []


def test_a_call_fills_every_field_of_its_message() -> None:
    lacking = []
    for at, call in looked_up():
        given = {word.arg for word in call.keywords}
        if call.func.id == "has_message" or None in given:  # type: ignore[attr-defined]
            continue
        for text in patterns(call.args[1]):
            keys = [key for key in messages("en") if re.fullmatch(text, key.removesuffix(".one"))]
            if len(keys) == 1 or "+" not in text:
                lacking += [(at, key) for key in keys if fields(messages("en")[key]) - given - {"file"}]
    assert lacking == []


def test_no_key_stands_in_two_files() -> None:
    for language in LANGUAGES:
        lines = [
            line
            for path in (LOCALE / language).iterdir()
            for line in path.read_text(encoding="utf-8").splitlines()
            if line and line[0] != "#"
        ]
        assert len(lines) == len(messages(language))
        assert {path.name for path in (LOCALE / language).iterdir()} == {
            path.name for path in (LOCALE / "en").iterdir()
        }


def test_a_key_that_there_is_not_and_a_value_that_is_missing_are_errors() -> None:
    assert t("en", "refused.group_full", most=3) == "a group holds at most 3 issues"
    assert has_message("refused.group_full") and not has_message("group_full")
    for key in ("group_full", "refused.group_ful", "refused.group_full"):
        with pytest.raises(KeyError):
            t("en", key)


def test_one_of_a_thing_has_its_own_form_where_the_language_has_one() -> None:
    assert t("en", "check.failed_tests", count=1) == "1 test failed"
    assert t("en", "check.failed_tests", count=2) == "2 tests failed"
    assert "check.failed_tests.one" not in messages("ko") and "1" in t("ko", "check.failed_tests", count=1)


_FIXED = {"reply.help.intro": "{prefix}", "reply.problem.missing_diff": "{example}"}
"""Messages whose field has one value only, so that its particle is known."""


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("requests end with 해 주세요", r"(?<!주)세요"),
        (
            "a noun must stand between the value and the particle",
            r"\{\w+\}`?(?:은|는|이|가|을|를|과|와|로|으로)(?![가-힣(])",
        ),
    ],
    ids=["polite", "particle"],
)
def test_korean_is_polite_in_one_way_and_no_particle_depends_on_a_value(what: str, pattern: str) -> None:
    texts = {key: text.replace(_FIXED.get(key, "{}"), "") for key, text in messages("ko").items()}
    assert {key: text for key, text in texts.items() if re.search(pattern, text)} == {}, what
