"""The site of documents: Sphinx reads the Markdown that GitHub shows too. `make docs` builds it without the network."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

project = "Mendbot"
html_title = "Mendbot"
extensions = ["myst_parser"]
myst_heading_anchors = 4
suppress_warnings = ["toc.not_included"]  # the decisions: in the sidebar of every page they would take most of the time

html_theme = "furo"
html_static_path = ["pictures"]
html_favicon = "pictures/logo.svg"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

NAVIGATION = {
    "Start": ["demo", "first-fix", "connect-an-agent", "install"],
    "Maintainers": ["issues", "proof", "pull-requests", "commands", "how-to", "configuration"],
    "Operators": ["operating", "pages", "environment", "agents", "models"],
    "Programs": ["command-line", "cli", "http", "mcp", "error-history"],
    "Reference": ["stop-reasons", "reference", "glossary"],
    "About": ["security", "threats", "faq", "comparison"],
    "Development": ["architecture", "requirements", "performance", "decisions/README"],
}
"""The pages by the heading above them; each page stands once."""

if korean := sorted(f"ko/{path.stem}" for path in Path(__file__).parent.glob("ko/*.md")):
    NAVIGATION["한국어"] = korean

_OUTSIDE = re.compile(r"\[`?([^\]`]+)`?\]\((\.\./[\w.-]+\.md)\)")
_MERMAID = re.compile(r"^```mermaid\n.*?^```$", re.MULTILINE | re.DOTALL)


def _navigation() -> str:
    """The lists of pages as MyST's directives. GitHub would show these as code, so no file has them."""
    return "\n".join(
        f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"
        for caption, pages in NAVIGATION.items()
    )


def adapt(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Change what only GitHub can show, and add the navigation to the first page.

    Mermaid becomes the committed picture of the page's name, a link to Markdown outside of the documents a download."""
    text = _OUTSIDE.sub(r"{download}`\1 <\2>`", source[0])
    text = _MERMAID.sub(f"![Diagram](pictures/{docname}.svg)", text)
    source[0] = f"{text}\n{_navigation()}" if docname == "index" else text


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("source-read", adapt)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
