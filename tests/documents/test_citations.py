"""What code and tests cite stands in a document of the repository: threats, requirements, sections, rules."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = sorted(
    path for folder in ("bot", "tests") for path in (ROOT / folder).rglob("*.py") if "samples" not in path.parts
)

REQUIREMENT = re.compile(r"\bREQ-[A-Z]+-\d{3}\b")
POINT = re.compile(r"\b[GHK]-\d\b")
THREAT = re.compile(r"\bT([1-9]\d?)\b(?:-T?([1-9]\d?)\b)?")
SPEC = re.compile(r"\bspec ([A-Z])(?:[.-](\d))?\b")
FAULTS = re.compile(r"\bthreats\.md (\d(?:\.\d)?)(?:, \*([^*]+)\*)?")
RULE = re.compile(r"\barchitecture rule (\d+)\b")


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def rows(name: str) -> set[str]:
    """The ids that rows of a page's tables begin with."""
    return set(re.findall(r"^\| ([A-Z][A-Z0-9-]*\d) \|", page(name), re.MULTILINE))


def prose(source: str) -> Iterator[str]:
    """Docstrings and comments: what a string of the code says is no citation."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield " ".join(node.value.value.split())
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


@cache
def texts() -> Mapping[str, str]:
    """All prose of each file."""
    return {
        path.relative_to(ROOT).as_posix(): "\n".join(prose(path.read_text(encoding="utf-8")))
        for path in CODE
        if path != Path(__file__)
    }


def threats(text: str) -> set[str]:
    """The threats that a text names, those within a range too."""
    found = set()
    for first, last in THREAT.findall(text):
        found |= {f"T{number}" for number in range(int(first), int(last or first) + 1)}
    return found


def cited(pattern: re.Pattern[str]) -> set[str]:
    return {found for text in texts().values() for found in pattern.findall(text)}


def test_every_threat_that_is_cited_has_its_row() -> None:
    named = set().union(*(threats(text) for text in texts().values()))
    assert len(named) > 30, "the citations are written in another way by now"
    assert named - rows("threats.md") == set()


def test_a_threat_has_one_row_and_each_row_says_what_answers_it() -> None:
    found = re.findall(r"^\| (T\d+) \|(.+)\|$", page("threats.md"), re.MULTILINE)
    assert [name for name, _ in found] == [f"T{number}" for number in range(1, len(found) + 1)]
    assert [name for name, row in found if [bool(cell.strip()) for cell in row.split(" | ")] != [True] * 3] == []


@pytest.mark.parametrize("pattern", [REQUIREMENT, POINT], ids=["requirements", "points"])
def test_every_requirement_that_is_cited_has_its_row(pattern: re.Pattern[str]) -> None:
    assert cited(pattern), "the citations are written in another way by now"
    assert cited(pattern) - rows("requirements.md") == set()


def test_every_section_of_the_specification_that_is_cited_is_there() -> None:
    sections = set(re.findall(r"^## ([A-Z])\. ", page("requirements.md"), re.MULTILINE))
    letters = {(letter, point) for text in texts().values() for letter, point in SPEC.findall(text)}
    assert letters
    assert {letter for letter, _ in letters} - sections == set()
    assert {f"{letter}-{point}" for letter, point in letters if point} - rows("requirements.md") == set()


def test_every_section_about_faults_that_is_cited_is_there() -> None:
    parts = re.split(r"^#{2,3} (?=\d)", page("threats.md"), flags=re.MULTILINE)[1:]
    sections = {part.split()[0].rstrip("."): part for part in parts}
    named = {found for text in texts().values() for found in FAULTS.findall(text)}
    assert named
    missing = [f"{number} {fault}" for number, fault in named if f"*{fault}*" not in sections.get(number, "") and fault]
    assert missing == []
    assert {number for number, _ in named} - set(sections) == set()


def test_every_architecture_rule_that_is_cited_is_in_the_list() -> None:
    listed = set(re.findall(r"^(\d+)\. ", page("architecture.md").split("\n## Twelve rules\n", 1)[1], re.MULTILINE))
    assert cited(RULE)
    assert cited(RULE) - listed == set()


def test_no_document_is_cited_that_the_repository_lacks() -> None:
    cited_pages = {
        (name, found)
        for name, text in texts().items()
        for found in re.findall(r"\b(?:trust|house|contract|spec|glossary|layout|engine|github)\.md\b", text)
    }
    assert cited_pages == set()
