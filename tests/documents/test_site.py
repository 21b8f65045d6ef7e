"""The site of documents builds without a warning, so every link and anchor leads somewhere, and needs no other site."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.machine import PATIENCE_S

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAVIGATION = runpy.run_path(str(DOCS / "conf.py"))["NAVIGATION"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site, from the very words of `make docs`."""
    where = tmp_path_factory.mktemp("site")
    command = re.findall(r"^\t@\$\(BIN\)/python (-m sphinx .+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    argv = [re.sub(r"^site(?=/|$)", str(where), word) for word in command[0].split()]
    done = subprocess.run([sys.executable, *argv], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S * 4)
    assert done.returncode == 0, done.stderr
    return where


def test_every_page_of_the_documents_is_on_the_site_and_in_its_navigation(site: Path) -> None:
    files = [path.relative_to(DOCS) for path in DOCS.rglob("*.md") if "decisions" not in path.parts]
    pages = {path.with_suffix("").as_posix() for path in files}
    listed = [page for group in NAVIGATION.values() for page in group]
    assert sorted(listed) == sorted({*pages - {"index"}, "decisions/README"})
    assert [page for page in pages if not (site / f"{page}.html").is_file()] == []
    shown = re.findall(r'class="toctree-l1"><a class="reference internal" href="([^"]+)\.html"', text(site, "index"))
    assert shown == listed


def text(site: Path, page: str) -> str:
    return (site / f"{page}.html").read_text(encoding="utf-8")


def test_no_page_loads_anything_from_another_site(site: Path) -> None:
    """Scripts, styles, fonts and pictures; a link that a reader may follow is none of these."""
    loads = re.compile(r'<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href|srcset)="((?:https?:)?//[^"]*)"')
    found = {path.name: loads.findall(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert {name: urls for name, urls in found.items() if urls} == {}
    styles = {path.name: path.read_text(encoding="utf-8") for path in (site / "_static").rglob("*.css")}
    assert styles
    assert [name for name, style in styles.items() if re.search(r"(?:url\(|@import)\W*(?:https?:)?//", style)] == []


def test_the_search_knows_the_pages(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert '"first-fix"' in index and "bubblewrap" in index


def test_mermaid_is_a_picture_on_the_site(site: Path) -> None:
    page = text(site, "architecture")
    assert "flowchart" not in page and 'src="_images/architecture.svg"' in page


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
