"""One word for one thing: what the glossary replaces stands in no message, not in `README.md` and not in `docs`.

Names are not words: what stands in backticks or in a block of code is left out of documents, and the keys of the
tables out of the messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from bot.model import Language
from bot.reports.locale.catalog import messages
from bot.rules.commands.verbs import VERBS

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TABLES: Mapping[str, Mapping[str, str]] = {
    **{f"reports.locale.{language}": messages(language) for language in get_args(Language)},
    "rules.commands.verbs": {name: verb.usage for name, verb in VERBS.items()},
}
DOCUMENTS = [ROOT / "README.md", ROOT / "README.ko.md", *sorted((ROOT / "docs").rglob("*.md"))]


@cache
def banned() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each word with what finds it."""
    lines = (HERE / "glossary-banned.txt").read_text(encoding="utf-8").splitlines()
    words = [line.partition(" -> ")[0] for line in lines if line and not line.startswith("#")]
    return tuple((word, _finding(word)) for word in words)


def _finding(word: str) -> re.Pattern[str]:
    pattern = r"\s+".join(re.escape(part) for part in word.split()).replace(r"\*", r"\w*")
    return re.compile(rf"(?<![\w-]){pattern}(?![\w-])" if word.isascii() else pattern, re.IGNORECASE)


def found(text: str) -> list[str]:
    return [word for word, finding in banned() if finding.search(text)]


def prose(text: str) -> Iterator[str]:
    """The paragraphs of a document without its code."""
    plain = re.sub(r"(?ms)^ *(`{3,}).*?^ *\1`*$", "", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=\|)", plain):
        yield re.sub(r"(`+).+?\1", "NAME", paragraph, flags=re.DOTALL)


@pytest.mark.parametrize("name", TABLES)
def test_no_message_has_a_word_that_the_glossary_replaces(name: str) -> None:
    assert {key: words for key, text in TABLES[name].items() if (words := found(text))} == {}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_has_a_word_that_the_glossary_replaces(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [(words, part[:90]) for part in prose(text) if (words := found(part))] == []


def test_words_are_found_as_words_in_any_case_and_over_the_end_of_a_line() -> None:
    assert found("Mended by a Stranger, who\nsays so. It is run\nagain.") == ["mended", "stranger", "run again"]
    assert found("Mendbot recommends amended slippers") == []
    assert found("이 오류는 기준 커밋에 있습니다") == ["오류", "기준 커밋"]
    assert list(prose("a `mend` b\n\n```sh\nmend\n```\n\n- c")) == ["a NAME b", "- c"]


def test_the_list_says_what_to_write_and_names_each_word_once() -> None:
    lines = [
        line for line in (HERE / "glossary-banned.txt").read_text(encoding="utf-8").splitlines() if line[:1] != "#"
    ]
    assert all(re.fullmatch(r"\S.* -> \S.*", line) for line in lines)
    assert len({word for word, _ in banned()}) == len(lines) > 60
