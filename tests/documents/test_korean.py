"""Each Korean page follows its English one: the same sections with the same blocks, code, names, numbers and links.
A change of an English page that its Korean page does not follow fails here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.rules.commands.verbs import VERBS

ROOT = Path(__file__).parents[2]
ENGLISH = {
    "README.ko.md": "README.md",
    **{f"docs/ko/{path.name}": f"docs/{path.name}" for path in sorted((ROOT / "docs/ko").glob("*.md"))},
}
KOREAN = {english: korean for korean, english in ENGLISH.items()}
MARKDOWN = MarkdownIt("commonmark").enable("table")


@dataclass
class Section:
    """What both languages share: everything but the words."""

    heading: str
    blocks: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def anchors(page: str) -> list[str]:
    """The anchors that GitHub gives to the headings of a page."""
    tokens = MARKDOWN.parse(read(page))
    titles = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


def resolve(page: str, link: str) -> tuple[str, str]:
    """The file to which a link of a page leads, and the anchor in it."""
    path, _, anchor = link.partition("#")
    return os.path.normpath(os.path.join(os.path.dirname(page), path) if path else page), anchor


def target(page: str, link: str) -> str:
    """Where a link leads, alike in both languages: the English page and the number of the heading."""
    if "://" in link:
        return link
    file, anchor = resolve(page, link)
    place = str(anchors(file).index(anchor)) if anchor else ""
    return f"{ENGLISH.get(file, file)}#{place}"


def without_words(token: Token) -> str:
    """A block of code without comments, and a diagram without labels."""
    if token.info == "mermaid":
        return re.sub(r"\[\([^)]*\)\]|\[[^]]*\]|-- .*? -->", "", token.content)
    return re.sub(r"(?m)(^| +)# .*$", "", token.content)


def language_line(page: str) -> str:
    """The line below the title, which leads to the other language."""
    if page in ENGLISH:
        return f"[English]({os.path.relpath(ENGLISH[page], os.path.dirname(page))}) · 한국어"
    return f"English · [한국어]({os.path.relpath(KOREAN[page], os.path.dirname(page))})"


def read_inline(page: str, token: Token, section: Section) -> None:
    for child in token.children or []:
        if child.type == "code_inline":
            section.names.append(child.content)
        elif child.type == "text":
            section.numbers += re.findall(r"(?<!\w)\d+(?:\.\d+)*", child.content)
        elif child.type == "link_open":
            section.links.append(target(page, unquote(str(child.attrs["href"]))))


def sections(page: str, text: str) -> Iterator[Section]:
    """The sections of a page in order, without the line below the title."""
    section = Section("")
    for token in MARKDOWN.parse(text.replace(language_line(page) + "\n", "", 1)):
        if token.type == "heading_open":
            yield section
            section = Section(token.tag)
        elif token.type in ("paragraph_open", "list_item_open", "tr_open", "html_block"):
            section.blocks.append(token.tag or re.sub(r'alt="[^"]*"', "", token.content))
        elif token.type == "fence":
            section.code.append(f"{token.info}\n{without_words(token)}")
        elif token.type == "inline":
            read_inline(page, token, section)
    yield section


def differences(korean: str, english: str, page: str) -> list[str]:
    """What the English text has and the Korean one lacks, or the other way; numbers may be added, as for *two*."""
    pairs = list(sections(page, korean)), list(sections(ENGLISH[page], english))
    if len(pairs[0]) != len(pairs[1]):
        return [f"{len(pairs[0]) - 1} headings in Korean, {len(pairs[1]) - 1} in English"]
    found = []
    for number, (ours, theirs) in enumerate(zip(*pairs, strict=True)):
        left, right = asdict(ours), asdict(theirs)
        for part in ("names", "links"):
            left[part], right[part] = sorted(set(left[part])), sorted(set(right[part]))
        left["numbers"], right["numbers"] = [], sorted(set(theirs.numbers) - set(ours.numbers))
        found += [f"section {number}, {part}: {left[part]} {right[part]}" for part in left if left[part] != right[part]]
    return found


@pytest.mark.parametrize("page", ENGLISH)
def test_a_korean_page_follows_its_english_one(page: str) -> None:
    found = differences(read(page), read(ENGLISH[page]), page)
    assert found == [], f"change {page} as {ENGLISH[page]} was changed"


@pytest.mark.parametrize("page", [*ENGLISH, *KOREAN])
def test_the_line_below_the_title_leads_to_the_other_language(page: str) -> None:
    assert read(page).splitlines()[2] == language_line(page)


@pytest.mark.parametrize("page", ENGLISH)
def test_links_lead_to_korean_pages_where_there_are_any(page: str) -> None:
    body = read(page).replace(language_line(page), "", 1)
    links = [link for link in re.findall(r"\]\(([^)]+)\)", body) if "://" not in link]
    found = [resolve(page, link) for link in links]
    assert [file for file, _ in found if not (ROOT / file).is_file() or file in KOREAN] == []
    assert [(file, anchor) for file, anchor in found if anchor and anchor not in anchors(file)] == []


def test_the_korean_reference_has_every_command() -> None:
    text = read("docs/ko/commands.md")
    assert [name for name in VERBS if f"\n| `{name}" not in text or f"`/mendbot {name}" not in text] == ["apply"]


@pytest.mark.parametrize("page", ENGLISH)
def test_every_heading_and_every_paragraph_is_korean(page: str) -> None:
    tokens = MARKDOWN.parse(read(page))
    opened = [i for i, token in enumerate(tokens) if token.type in ("heading_open", "paragraph_open")]
    texts = [re.sub(r"`[^`]+`", "", tokens[i + 1].content) for i in opened[1:]]
    assert [text for text in texts if text and not re.search("[가-힣]", text)] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\n## Syntax", "\n## One more\n\n## Syntax"),
        ("/mendbot retest lint", "/mendbot retest test"),
        ("aliases: true", "aliases: [fix]"),
        ("1 to 100", "1 to 50"),
        ("write, maintain and admin)", "write, maintain, `triage` and admin)"),
        ("\n- Options are", "\n\nA paragraph.\n\n- Options are"),
        ("## Permissions\n\n", "## Permissions\n\nSee [issues](issues.md). "),
        ("\n| `retry` | both | `/mendbot retry` | Starts a new run after one that failed. |", ""),
    ],
)
def test_a_change_of_the_english_page_alone_is_found(before: str, after: str) -> None:
    english = read("docs/commands.md")
    assert before in english
    assert differences(read("docs/ko/commands.md"), english.replace(before, after, 1), "docs/ko/commands.md") != []
