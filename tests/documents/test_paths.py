"""Every file that the pages for newcomers name is there, under that very name; and every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORDS = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
PAGES = (ROOT / "CONTRIBUTING.md", ROOT / "docs/architecture.md", ROOT / "docs/threats.md")
LISTS = (*PAGES, ROOT / "docs/decisions/README.md", ROOT / "docs/decisions/dependencies.md")

FOLDERS = "bot|tests|demo|fixtures|docs|benchmarks|scripts"
NAMED = re.compile(rf"(?<![\w./-])(?:(?:{FOLDERS})/(?:[\w./-]*\w/?)?|[A-Z]+\.md\b)")
LINK = re.compile(r"\]\(([^)#]+)")
STATUS = re.compile(r"^Date: \d{4}-\d\d-\d\d · Status: (accepted|replaced by \d{4}) · Topic: \S", re.MULTILINE)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def missing(text: str) -> list[str]:
    """The paths in a text that do not exist; one that ends in a slash must be a folder, any other a file."""
    named = sorted(set(NAMED.findall(text)))
    return [name for name in named if not ((ROOT / name).is_dir() if name.endswith("/") else (ROOT / name).is_file())]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    text = LINK.sub("", page.read_text(encoding="utf-8"))
    assert NAMED.search(text)
    assert missing(text) == []


def test_every_file_that_an_accepted_decision_names_is_there() -> None:
    """One that was replaced may name what is gone."""
    accepted = [path for path in RECORDS if "Status: accepted" in path.read_text(encoding="utf-8")]
    assert accepted
    found = {path.name: missing(path.read_text(encoding="utf-8")) for path in accepted}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize("page", LISTS, ids=name_of)
def test_every_link_leads_to_a_page(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_decisions_are_numbered_dated_and_listed() -> None:
    assert [int(path.name[:4]) for path in RECORDS] == list(range(1, len(RECORDS) + 1))
    texts = {path.name: path.read_text(encoding="utf-8") for path in RECORDS}
    assert [name for name, text in texts.items() if not text.startswith(f"# {name[:4]}. ")] == []
    assert [name for name, text in texts.items() if len(STATUS.findall(text)) != 1] == []
    parts = ["Decision", "Why", "Consequence"]
    assert [name for name, text in texts.items() if re.findall(r"^## (.+)$", text, re.MULTILINE) != parts] == []
    listed = LINK.findall((ROOT / "docs/decisions/README.md").read_text(encoding="utf-8"))
    assert sorted(link for link in listed if link[:4].isdecimal()) == [path.name for path in RECORDS]
