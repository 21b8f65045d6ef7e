"""Turns untrusted words into Markdown that can only be words: nobody is called, nothing is linked, closed or drawn.

GitHub looks for mentions and references after rendering, so a backslash or `&#64;` does not stop them; a zero-width
space behind the sign does, in Markdown (written `&#8203;`) and in commit messages, where mentions count too (T36)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bot.model import Language
from bot.reports.format.truncate import COMMENT_CHARS, cut_chars, cut_mark, inline_code, one_line

_TRIGGER = r"@|#(?=\d)|(?i:(?<![A-Za-z0-9])GH-(?=\d))|:(?=//)|(?i:(?<![A-Za-z0-9])www(?=\.))"
"""What GitHub would turn into a mention, a reference or a link (GFM 6.9; docs, autolinked references)."""

_MARKDOWN = re.compile(rf"(?P<trigger>{_TRIGGER})|[\\`*_\[\]<>#|~$&]")
_PLAIN = re.compile(rf"{_TRIGGER}|\[(?=(?i:skip ci|ci skip|no ci|skip actions|actions skip)\])")
"""The bracketed words would keep a repository's workflows from running (docs, skipping workflow runs)."""

_BLOCK = re.compile(r"\A(\d{0,9})([-+=:.)])")
"""A first word such as `-`, `=`, `:--` or `1.` would open a list, a heading or a table."""

_CODE = re.compile(r"(?<!`)`(?!`)([^`]*[^`\s][^`]*)`(?!`)")
_FOLD = "<details>"
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(?:/[A-Za-z0-9._~%/-]*)?")


def escape(text: str, limit: int = 300) -> str:
    """One line of plain Markdown words, from at most `limit` characters of the text; fit for any place in prose."""
    return _BLOCK.sub(r"\1\\\2", _MARKDOWN.sub(_as_words, one_line(text, limit)))


def with_code(text: str, limit: int = 300) -> str:
    """As `escape`, but what stands between two backticks is a code span: for sentences of our own with names in them.
    A backtick in a name moves the span, and lets nothing out of it."""
    line = one_line(text, limit)
    parts = [
        inline_code(part, limit) if at % 2 else _MARKDOWN.sub(_as_words, part)
        for at, part in enumerate(_CODE.split(line))
    ]
    return _BLOCK.sub(r"\1\\\2", "".join(parts))


def _as_words(match: re.Match[str]) -> str:
    sign = match.group()
    if match.group("trigger") is None:
        return "&#124;" if sign == "|" else "\\" + sign
    return ("\\#" if sign == "#" else sign) + "&#8203;"


def plain(text: str, limit: int = 200) -> str:
    """The text as one line for a title or a commit message, which are no Markdown but do mention, refer, close and skip
    workflows."""
    return one_line(_PLAIN.sub(lambda match: match.group() + "\u200b", one_line(text, limit)), limit)


def link(words: str, address: str) -> str:
    """A Markdown link; `words` is Markdown already. An address that is not a plain http(s) one is left out."""
    return f"[{words}]({address})" if _ADDRESS.fullmatch(address) else words


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already; a `|` in a code span is escaped as tables need it (GFM 4.10)."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def details(summary: str, content: str) -> str:
    """A part that is folded until somebody opens it; `summary` is plain text of our own."""
    return f"{_FOLD}<summary>{summary}</summary>\n\n{content}\n\n</details>"


def within(items: Iterable[str], room: int) -> list[str]:
    """The first items that together have at most `room` characters, and in any case the first."""
    kept: list[str] = []
    for item in items:
        room -= len(item)
        if kept and room < 0:
            break
        kept.append(item)
    return kept


def page(parts: Iterable[str], language: Language, limit: int = COMMENT_CHARS, *, keep: str = "") -> str:
    """The parts that say something, a paragraph or more each, in at most `limit` characters; `keep` is one more fold.

    What is folded is left out first, as a fold that is cut would never close: the last of it before the rest, and
    `keep` after all others."""
    kept = [part for part in (*parts, keep) if part]
    folds = [at for at in reversed(range(len(kept))) if kept[at].startswith(_FOLD)]
    for at in [*folds[1:], *folds[:1]] if keep else folds:
        if len("\n\n".join(kept)) <= limit:
            break
        kept[at] = cut_mark("characters", len(kept[at]), language)
    return cut_chars("\n\n".join(kept), limit, language, whole_lines=True)
