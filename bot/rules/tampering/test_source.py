"""Which files hold tests, and what they hold: by the grammar of their language, or by the look of their lines."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from bot.rules.syntax import OverLimit, grammar_of
from bot.rules.tampering.read_text import read_text
from bot.rules.tampering.read_tree import read_tree
from bot.rules.tampering.readings import Reading

_BY_TEXT = frozenset(("kt", "kts", "scala", "groovy", "cs", "sh", "bash", "bats", "vue", "svelte"))
"""The suffixes of source without a grammar whose lines are read."""
_TEST_NAME = re.compile(
    r"^test_.+|.+_(?:test|tests|spec)\.\w+$|.+[.-](?:test|spec|cy|e2e)\.\w+$|.+(?:Test|Tests|TestCase|Spec|IT)\.\w+$"
    r"|^tests?\.\w+$|^conftest\.py$"
)
_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "testing", "e2e"})


def is_test(path: str) -> bool:
    """Whether the file holds tests by its name, or is source in a directory of tests (the tools' usual habits)."""
    *folders, name = path.split("/")
    if is_snapshot(path) or not _is_source(path):
        return bool(_TEST_NAME.match(name)) and not name.endswith((".json", ".txt", ".md", ".snap", ".yml", ".yaml"))
    return bool(_TEST_NAME.match(name)) or not _TEST_FOLDERS.isdisjoint(folders)


def is_snapshot(path: str) -> bool:
    """Whether the file is what a snapshot test compares with (Jest, Vitest, syrupy, insta)."""
    return path.endswith((".snap", ".ambr")) or "/__snapshots__/" in f"/{path}"


def parse_tests(
    path: str, text: str, *, checked: bool = False, by_text: bool = False, helpers: Collection[str] = ()
) -> Reading:
    """The tests and ignored findings of the text; nothing where the language is unknown. A file that is `checked`,
    as a check's command names it, counts as a test file whatever its name. `by_text`: the grammar is not used.
    Calls of `helpers`, which are functions of other files, are assertions."""
    grammar, suffix = grammar_of(path), _suffix(path)
    tests = checked or is_test(path) or grammar == "rust"
    if not tests and not _is_source(path):
        return Reading()
    reading = None if by_text or not grammar else _read_tree(grammar, text, suffix, helpers)
    reading = reading or replace(read_text(suffix, text), by_text=True)
    return reading if tests else Reading(ignores=reading.ignores)


def _read_tree(grammar: str, text: str, suffix: str, helpers: Collection[str]) -> Reading | None:
    """The reading by a grammar; None where the text is over a limit, or so broken that its lines show more tests."""
    try:
        reading, broken = read_tree(grammar, text.encode(errors="replace"), helpers)
    except OverLimit:
        return None
    return None if broken and len(read_text(suffix, text).cases) > len(reading.cases) else reading


def _is_source(path: str) -> bool:
    return bool(grammar_of(path)) or _suffix(path) in _BY_TEXT


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()
