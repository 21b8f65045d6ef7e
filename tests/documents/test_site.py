"""The site of documents builds without a warning, so every link and anchor leads somewhere, and needs no other site."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.machine import PATIENCE_S

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOADED = re.compile(r'<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href|srcset)="((?:https?:)?//[^"]*)"')
"""What a page loads from elsewhere: scripts, styles, fonts, pictures; a link for readers is none of these."""
NAVIGATION = runpy.run_path(str(DOCS / "conf.py"))["NAVIGATION"]


def test_the_site_builds_and_has_every_page_and_loads_nothing_from_another_site(tmp_path: Path) -> None:
    """One test, so that one process builds the site, from the very words of `make docs`."""
    command = re.findall(r"^\t@\$\(BIN\)/python (-m sphinx .+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    argv = [re.sub(r"^site(?=/|$)", str(tmp_path), word) for word in command[0].split()]
    done = subprocess.run([sys.executable, *argv], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S * 4)
    assert done.returncode == 0, done.stderr

    pages = {path.relative_to(tmp_path).with_suffix("").as_posix(): path.read_text("utf-8") for path in html(tmp_path)}
    check_navigation(pages)
    assert {name: urls for name, text in pages.items() if (urls := LOADED.findall(text))} == {}
    styles = {path.name: path.read_text("utf-8") for path in (tmp_path / "_static").rglob("*.css")}
    assert styles
    assert [name for name, style in styles.items() if re.search(r"(?:url\(|@import)\W*(?:https?:)?//", style)] == []
    index = (tmp_path / "searchindex.js").read_text("utf-8")
    assert '"first-fix"' in index and "bubblewrap" in index
    assert "flowchart" not in pages["architecture"] and 'src="_images/architecture.svg"' in pages["architecture"]


def html(site: Path) -> Iterator[Path]:
    return (path for path in site.rglob("*.html") if "_static" not in path.parts)


def check_navigation(pages: Mapping[str, str]) -> None:
    """Every page of the documents is on the site, and the navigation has each once."""
    files = [path.relative_to(DOCS) for path in DOCS.rglob("*.md")]
    names = {path.with_suffix("").as_posix() for path in files}
    assert names - set(pages) == set()
    listed = [page for group in NAVIGATION.values() for page in group]
    decisions = {name for name in names if name.startswith("decisions/")} - {"decisions/README"}
    assert sorted(listed) == sorted(names - decisions - {"index"})
    shown = re.findall(r'class="toctree-l1"><a class="reference internal" href="([^"]+)\.html"', pages["index"])
    assert shown == listed


def labels(page: str) -> set[str]:
    """The words of the nodes of a page's diagram."""
    diagram = re.findall(r"```mermaid\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)[0]
    nodes = re.findall(r'\w+[\[(]+"?([^\])"]+)"?[\])]+', diagram)
    return {line for node in nodes for line in node.split("<br>") if not node.startswith("a run")}


@pytest.mark.parametrize(("page", "picture"), [("README.md", "how-it-works"), ("docs/architecture.md", "architecture")])
def test_the_picture_has_every_node_of_the_diagram(page: str, picture: str) -> None:
    drawn = (DOCS / "pictures" / f"{picture}.svg").read_text(encoding="utf-8")
    words = " ".join(re.findall(r"<text[^>]*>([^<]+)</text>", drawn))
    assert len(labels(page)) > 8
    assert [label for label in labels(page) if label not in words] == []
    assert "prefers-color-scheme:dark" in drawn


def test_the_site_is_built_where_git_ignores_it() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    assert subprocess.run(["git", "check-ignore", "-q", "site/"], cwd=ROOT).returncode == 0
