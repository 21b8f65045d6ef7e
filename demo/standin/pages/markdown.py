"""Markdown as GitHub shows it, near enough to judge a comment by: tables, `<details>`, hidden HTML comments, `#12`.

Texts come from anybody, so all other HTML is shown as text and links keep to harmless schemes."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

from demo.standin.json.thread import REACTIONS
from demo.standin.records import Reaction

PICTURES = dict(zip(REACTIONS, "👍👎😄🎉😕❤🚀👀", strict=True))

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_KNOWN_TAG = re.compile(r"</?(?:details|summary|sub|sup|kbd|b|i|em|strong|code|br|hr)\s*/?>|<details open>")
_REFERENCE = re.compile(r"(?<![\w&/])#(\d{1,9})\b")


def markdown(text: str | None, repo_page: str) -> Markup:
    """HTML of a Markdown text; `repo_page` is where `#12` leads."""
    parser = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable(["table", "strikethrough"])
    parser.add_render_rule("html_block", _html)
    parser.add_render_rule("html_inline", _html)
    parser.add_render_rule("text", _text)
    # the parser has refused javascript:, vbscript:, file: and data: links; `html` went through _html
    return Markup(parser.render(text or "", {"repo_page": repo_page}))  # noqa: S704


def _html(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    return known_html(tokens[at].content)


def known_html(source: str) -> str:
    """The harmless tags as they are, comments gone, the rest as text."""
    source = _COMMENT.sub("", source)
    parts, end = [], 0
    for match in _KNOWN_TAG.finditer(source):
        parts += [escape(source[end : match.start()]), match.group()]
        end = match.end()
    return "".join([*parts, escape(source[end:])])


def _text(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    text = escape(tokens[at].content)
    open_links = sum((token.type == "link_open") - (token.type == "link_close") for token in tokens[:at])
    if open_links:
        return text
    page = escape(str(env["repo_page"]))
    return _REFERENCE.sub(rf'<a href="{page}/issues/\1">#\1</a>', text)


@dataclass(frozen=True, slots=True)
class DiffLine:
    """`kind` is added, removed, place or same; `old` and `new` are its numbers on the two sides, where it has any."""

    kind: str
    text: str
    old: int | None = None
    new: int | None = None


def diff_lines(patch: str | None) -> list[DiffLine]:
    """The lines of a patch, numbered as on the page "Files changed"."""
    found: list[DiffLine] = []
    old = new = 0
    for line in (patch or "").split("\n"):
        place = _HUNK.match(line)
        if place:
            old, new = int(place[1]), int(place[2])
            found.append(DiffLine("place", line))
        elif line.startswith("+"):
            found.append(DiffLine("added", line, None, new))
            new += 1
        elif line.startswith("-"):
            found.append(DiffLine("removed", line, old, None))
            old += 1
        elif line.startswith("\\"):
            found.append(DiffLine("same", line))
        else:
            found.append(DiffLine("same", line, old, new))
            old, new = old + 1, new + 1
    return found


def tally(reactions: Sequence[Reaction]) -> list[tuple[str, int, str]]:
    """Each sort of reaction as people see it: its picture with its name, for not every machine has a font for the
    picture; how often; and by whom."""
    by: dict[str, list[str]] = {}
    for one in reactions:
        by.setdefault(one.content, []).append(one.user.login)
    return [(f"{PICTURES[content]} {content}", len(names), ", ".join(names)) for content, names in by.items()]
