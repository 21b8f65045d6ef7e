"""Finds the lines of a comment that are plain text, not quotes, code or other examples (REQ-CMD-001). markdown-it reads
the structure as GitHub shows it; the lines themselves are returned as typed.

A comment may hold any 65,536 characters, so the time is about linear in the length."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_LISTS = frozenset({"bullet_list_open", "ordered_list_open", "list_item_open"})
_SHOWN = frozenset({"blockquote", "details", "pre", "table"})
"""HTML elements that quote or fold paragraphs, up to their end tag."""
_SHOWN_INLINE = frozenset({"a", "code", "del", "kbd", "q", "s", "samp", "strike", "tt"})
_TAG = re.compile(r"<(/?)([a-z]+)(?![\w-])", re.I)
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
# white space to Python that is none to Markdown: a line of it is not blank, and must not be trimmed away
_ODD_SPACE = re.compile(r"[^\S \t\n]")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A code block with a fence, at the top level; `line` counts from 0, `info` is the first word behind the fence."""

    line: int
    info: str
    content: str


@dataclass(frozen=True, slots=True)
class MarkdownLines:
    """The numbers (from 0) of the requested lines that are plain text, and the comment's code blocks."""

    plain: frozenset[int]
    blocks: tuple[CodeBlock, ...]


def split(body: str) -> tuple[str, ...]:
    """The lines as Markdown counts them: ended by LF, CR or both."""
    return tuple(body.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def prose_lines(raw: Sequence[str], wanted: frozenset[int]) -> MarkdownLines:
    """Which of the lines `wanted` are plain text. These are lines of paragraphs outside of quotes, tables, code,
    links, HTML comments and folds. Of a list, lines count that continue below an item without any indent."""
    env: dict[str, Any] = {}
    plain: set[int] = set()
    blocks: list[CodeBlock] = []
    within: list[str] = []
    shown: Counter[str] = Counter()
    for token in _markdown().parse(_ODD_SPACE.sub("\ufffd", "\n".join(raw)), env):
        if token.nesting == 1:
            within.append(token.type)
        elif token.nesting == -1:
            within.pop()
        elif token.type == "fence" and not within:
            blocks.append(_block(token, raw))
        elif not _LISTS.issuperset(within[:-1] if within[-1:] == ["paragraph_open"] else within):
            continue
        elif token.type == "html_block":
            _count_tags(_HTML_COMMENT.sub("", token.content), shown)
        elif token.type == "inline":
            in_list = len(within) > 1
            if "<" in token.content or not wanted.isdisjoint(range(*(token.map or (0, 0)))):
                plain.update(at for at in _plain_lines(token, env, shown) if not (in_list and raw[at][:1].isspace()))
    return MarkdownLines(wanted & plain, tuple(blocks))


def _block(token: Token, raw: Sequence[str]) -> CodeBlock:
    first = token.map[0] if token.map else 0
    indent = len(raw[first]) - len(raw[first].lstrip(" "))
    count = token.content.count("\n") + bool(token.content and token.content[-1] != "\n")
    lines = raw[first + 1 : first + 1 + count]
    content = "\n".join(line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in lines)
    return CodeBlock(first, (token.info.split() or [""])[0], content + "\n" if lines else "")


def _plain_lines(token: Token, env: dict[str, Any], shown: Counter[str]) -> Iterator[int]:
    """The numbers of a paragraph's lines that begin outside of links, HTML and folds; `shown` counts the tags that
    are open."""
    first = token.map[0] if token.map else 0
    if not any(shown.values()):
        yield first
    links, before, breaks = 0, 0, 0
    # a search for links that there can't be is what most of the time would go into
    markdown = _markdown(links="](" in token.content or bool(env.get("references")))
    for child in markdown.inline.parse(token.content, markdown, env, []):
        if child.type == "html_inline":
            _count_tags(child.content, shown)
        elif child.type == "line":
            at = child.meta["at"]
            breaks += token.content.count("\n", before, at + 1)
            before = at + 1
            if not links and not any(shown.values()):
                yield first + breaks
        else:
            links += child.nesting  # of what is read here, links alone are nested
    for name in _SHOWN_INLINE:
        del shown[name]


def _count_tags(html: str, shown: Counter[str]) -> None:
    for closing, name in _TAG.findall(html):
        name = name.lower()
        if name in _SHOWN or name in _SHOWN_INLINE:
            shown[name] = max(0, shown[name] + (-1 if closing else 1))


def _line_break(state: StateInline, silent: bool) -> bool:
    """An inline rule that adds a token, with its position, at each line end outside of code and tags."""
    at = state.pos + (state.src[state.pos] == "\\")
    if at >= state.posMax or state.src[at] != "\n":
        return False
    if not silent:
        state.push("line", "", 0).meta["at"] = at
    state.pos = at + 1
    return True


@functools.cache
def _markdown(*, links: bool = True) -> MarkdownIt:
    """CommonMark with tables, but without emphasis and without headings by `---` below a line, as mail programs
    begin a signature with that."""
    from markdown_it import MarkdownIt  # 1.2 MB, which a server needs with the first comment that has commands

    markdown = MarkdownIt("commonmark").enable("table").disable("lheading")
    markdown.core.ruler.enableOnly(["normalize", "block"])
    markdown.inline.ruler.before("text", "line", _line_break)
    rules = ["line", "text", "escape", "backticks", "autolink", "html_inline"]
    markdown.inline.ruler.enableOnly([*rules, "link"] if links else rules)
    markdown.inline.ruler2.enableOnly([])
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]
    return markdown
