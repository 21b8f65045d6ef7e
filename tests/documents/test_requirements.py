"""`docs/requirements.md` is true: every requirement has a row, every test it names exists and names the requirement.
Tests are read, not imported, so that the map can be checked without what they need."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/requirements.md"

REQUIREMENTS = (
    *(f"REQ-CHECK-{number:03}" for number in range(1, 8)),
    *(f"REQ-GIT-{number:03}" for number in range(1, 5)),
    *(f"REQ-STOP-{number:03}" for number in range(1, 7)),
    *(f"REQ-RUN-{number:03}" for number in range(1, 11)),
    *(f"REQ-RA-{number}" for number in (301, 302, 303, 304, 305, 306, 310, 311, 312, 313)),
    *(f"REQ-WF-{number:03}" for number in range(1, 8)),
    *(f"G-{number}" for number in range(1, 8)),
    *(f"H-{number}" for number in range(1, 5)),
    *(f"REQ-CMD-{number:03}" for number in range(1, 3)),
    *(f"REQ-MCP-{number:03}" for number in range(1, 5)),
    *(f"K-{number}" for number in range(1, 3)),
    *(f"REQ-PROOF-{number:03}" for number in range(1, 9)),
)
_ID = re.compile(r"REQ-[A-Z]+-\d{3}")
_ROW = re.compile(r"\| (?:REQ-[A-Z]+-\d{3}|[A-Z]-\d) \|")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows() -> Iterator[tuple[str, str, tuple[tuple[str, str], ...]]]:
    """Each row's id, its sentence and its tests as path and name."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if _ROW.match(line):
            _, name, demand, shown, _ = (cell.strip() for cell in line.split("|"))
            yield name, demand, tuple(_TEST.findall(shown))


@cache
def sources(path: str) -> Mapping[str, str]:
    """The source of each test function in the file, decorators and comments included."""
    source = (ROOT / path).read_text(encoding="utf-8")
    lines = source.splitlines()
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            first = min(node.lineno, *(each.lineno for each in node.decorator_list), node.lineno)
            found[node.name] = "\n".join(lines[first - 1 : node.end_lineno])
    return found


def test_every_requirement_has_one_row_in_order() -> None:
    assert tuple(name for name, _, _ in rows()) == REQUIREMENTS


@pytest.mark.parametrize(("name", "demand", "shown"), [pytest.param(*row, id=row[0]) for row in rows()])
def test_each_row_names_tests_that_are_there_and_name_it(
    name: str, demand: str, shown: tuple[tuple[str, str], ...]
) -> None:
    assert demand and shown and len(set(shown)) == len(shown)
    missing = [f"{path}::{test}" for path, test in shown if test not in sources(path)]
    assert missing == []
    mention = re.compile(rf"(?<![\w-]){re.escape(name)}(?!\d)")
    silent = [f"{path}::{test}" for path, test in shown if not mention.search(sources(path)[test])]
    assert silent == [], f"these say nothing of {name}: put it in their docstring"


def test_every_cell_of_the_page_is_read() -> None:
    """A test in another form, or an id that is none, would be passed over."""
    text = PAGE.read_text(encoding="utf-8")
    read = [f"{path}::{test}" for _, _, shown in rows() for path, test in shown]
    assert len(read) == text.count("::") == text.count(".py::")
    assert set(_ID.findall(text)) <= set(REQUIREMENTS)


def test_what_tests_cite_is_a_requirement() -> None:
    cited = {name for path in (ROOT / "tests").rglob("test_*.py") for name in _ID.findall(path.read_text("utf-8"))}
    assert cited <= set(REQUIREMENTS)
