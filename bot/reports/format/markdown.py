"""Turns untrusted text into Markdown that shows it as plain text, without mentions, links, references or images.

GitHub looks for mentions and references after rendering, so a backslash or `&#64;` does not stop them. A zero-width
space after the sign does. It is written `&#8203;` in Markdown, and as itself in commit messages, where mentions count
too (T36)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from bot.model import Language
from bot.reports.format.truncate import COMMENT_CHARS, cut_chars, cut_mark, inline_code, one_line

_TRIGGER = r"@|#(?=\d)|(?i:(?<![A-Za-z0-9])GH-(?=\d))|:(?=//)|(?i:(?<![A-Za-z0-9])www(?=\.))"
"""Text that GitHub would turn into a mention, a reference or a link (GFM 6.9; docs, autolinked references)."""

_MARKDOWN = re.compile(rf"(?P<trigger>{_TRIGGER})|[\\`*_\[\]<>#|~$&]")
_PLAIN = re.compile(rf"{_TRIGGER}|\[(?=(?i:skip ci|ci skip|no ci|skip actions|actions skip)\])")
"""The bracketed words would stop a repository's workflows from running (docs, skipping workflow runs)."""

_BLOCK = re.compile(r"\A(\d{0,9})([-+=:.)])")
"""A first word such as `-`, `=`, `:--` or `1.` would start a list, a heading or a table."""

_CODE = re.compile(r"(?<!`)`(?!`)([^`]*[^`\s][^`]*)`(?!`)")
_FOLD = "<details>"
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(?:/[A-Za-z0-9._~%/-]*)?")


def escape(text: str, limit: int = 300) -> str:
    """Returns one line of plain text as Markdown, from at most `limit` characters of the text; fits any place in
    prose."""
    return _BLOCK.sub(r"\1\\\2", _MARKDOWN.sub(_escaped, one_line(text, limit)))


def with_code(text: str, limit: int = 300) -> str:
    """As `escape`, but text between two backticks becomes a code span: for our own sentences that contain names.

    A backtick in a name moves the span, but no text gets out of it unescaped."""
    line = one_line(text, limit)
    parts = [
        inline_code(part, limit) if index % 2 else _MARKDOWN.sub(_escaped, part)
        for index, part in enumerate(_CODE.split(line))
    ]
    return _BLOCK.sub(r"\1\\\2", "".join(parts))


def _escaped(match: re.Match[str]) -> str:
    sign = match.group()
    if match.group("trigger") is None:
        return "&#124;" if sign == "|" else "\\" + sign
    return ("\\#" if sign == "#" else sign) + "&#8203;"


def plain(text: str, limit: int = 200) -> str:
    """Returns the text as one line for a title or a commit message.

    These are not Markdown, but GitHub reads mentions, references, closing keywords and workflow skips in them."""
    return one_line(_PLAIN.sub(lambda match: match.group() + "\u200b", one_line(text, limit)), limit)


def link(words: str, address: str) -> str:
    """Returns a Markdown link, or only `words` if the address is not a plain http(s) one; `words` is Markdown
    already."""
    return f"[{words}]({address})" if _ADDRESS.fullmatch(address) else words


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table; cells are Markdown already. A `|` is escaped even in a code span, as tables need it (GFM
    4.10)."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def details(summary: str, content: str) -> str:
    """Returns a folded section; `summary` is plain text of our own."""
    return f"{_FOLD}<summary>{summary}</summary>\n\n{content}\n\n</details>"


def within(items: Iterable[str], limit: int, *, size: Callable[[str], int] = len) -> list[str]:
    """Returns the first items whose sizes (by default, characters) add up to at most `limit`, and always the first."""
    selected: list[str] = []
    for item in items:
        limit -= size(item)
        if selected and limit < 0:
            break
        selected.append(item)
    return selected


def page(parts: Iterable[str], language: Language, limit: int = COMMENT_CHARS, *, keep: str = "") -> str:
    """Returns the non-empty parts as paragraphs in at most `limit` characters; `keep` is one more folded section.

    Folded sections are left out first, as one that is cut would never close: the last one first, `keep` after all
    others."""
    sections = [part for part in (*parts, keep) if part]
    folds = [index for index in reversed(range(len(sections))) if sections[index].startswith(_FOLD)]
    for index in [*folds[1:], *folds[:1]] if keep else folds:
        if len("\n\n".join(sections)) <= limit:
            break
        sections[index] = cut_mark("characters", len(sections[index]), language)
    return cut_chars("\n\n".join(sections), limit, language, whole_lines=True)
