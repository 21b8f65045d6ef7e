"""The leaves of Markdown as GitHub reads it."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

MENTION = re.compile(r"@[A-Za-z0-9]")

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def leaves(markdown: str) -> list[Token]:
    return [
        child for token in PARSER.parse(markdown) for child in ([token] if token.children is None else token.children)
    ]
