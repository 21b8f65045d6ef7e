"""Markdown as GitHub shows it, near enough to judge a comment by: tables, `<details>`, hidden HTML comments, `#12`.

Texts come from anybody, so all other HTML is shown as text and links keep to harmless schemes."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

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


def diff_lines(patch: str | None) -> list[tuple[str, str]]:
    """Each line of a patch with its kind: added, removed, place or same."""
    kinds = {"+": "added", "-": "removed", "@": "place"}
    return [(kinds.get(line[:1], "same"), line) for line in (patch or "").split("\n")]
