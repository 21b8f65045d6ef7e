"""Whether a message links to Mendbot's own places alone."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

OURS = re.compile(r"https://github\.com/acme/shop/(?:commit/[0-9a-f]{7,40}|pull/\d+|blob/[0-9a-f]{40}/[\w./%~-]+#L\d+)")


def strangers_words(body: str) -> str:
    """Everything but code, our own tags and links to the repository itself."""
    kept, tags, inside = [], "", False
    for token in MarkdownIt("commonmark").enable("table").parse(body):
        for child in [token] if token.children is None else token.children:
            assert child.type != "image", child
            if child.type in ("link_open", "link_close"):
                inside = child.type == "link_open"
                assert not inside or OURS.fullmatch(str(child.attrs["href"])), child
            elif child.type in ("html_block", "html_inline"):
                tags += child.content
                kept.append(re.sub(r"</?(details|summary|sub)>", "", child.content))
                assert "<" not in kept[-1], child.content
            elif not inside and child.type not in ("fence", "code_block", "code_inline"):
                kept.append(child.content)
    assert tags.count("<details>") == tags.count("</details>") and tags.count("<sub>") == tags.count("</sub>")
    return "\n".join(kept)


def assert_harmless(body: str) -> None:
    words = strangers_words(body)
    assert "@acme" not in words and not re.search(r"#\d|://|GH-\d", words)
