"""The pages show what is there, and nobody's text becomes markup."""

from __future__ import annotations

import re

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.demo.standin import StandIn, World
from bot.demo.standin.rendering import diff_lines, known_html, markdown

from .conftest import REPO, Api

HOME = f"/repos/{REPO}"
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def page(standin: StandIn, path: str) -> str:
    answer = httpx2.get(standin.url + path, follow_redirects=True)
    assert answer.status_code == 200, path
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src" not in answer.headers["content-security-policy"]
    return answer.text


@pytest.fixture
def lively(standin: StandIn, world: World, api: Api) -> StandIn:
    """A world with something on each page, much of it hostile."""
    world.comment(REPO, 1, "| a | b |\n|---|---|\n| 1 | 2 |\n\n<!-- mendbot:x -->\n\nsee #1 " + EVIL, "bob")
    sha = world.push_commit(REPO, "fix/issue-1", {"src/app.py": f"x = '{EVIL}'\n"}, "ann", EVIL)
    api.ok("POST", f"{HOME}/pulls", {"title": EVIL, "head": "fix/issue-1", "base": "main", "body": "Closes #1"})
    note = {"path": "src/app.py", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": EVIL}
    output = {"title": "1 failed", "summary": f"<details><summary>Log</summary>\n\n{EVIL}\n</details>"}
    for name, conclusion in (("mendbot / test", "failure"), ("mendbot / lint", "success")):
        run = {"name": name, "head_sha": sha, "conclusion": conclusion, "external_id": "r-1"}
        api.ok("POST", f"{HOME}/check-runs", {**run, "output": {**output, "annotations": [note]}})
    api.ok("POST", f"{HOME}/check-runs", {"name": "mendbot / fix", "head_sha": sha})
    return standin


def test_every_page_is_there_and_escapes(lively: StandIn, world: World) -> None:
    sha = world.pulls(REPO)[0].head_sha
    runs = world.check_runs(REPO)
    paths = ["/", f"/{REPO}", f"/{REPO}/issues", f"/{REPO}/issues/1", f"/{REPO}/pull/2", f"/{REPO}/commit/{sha}"]
    paths += [f"/{REPO}/runs/{run.id}" for run in runs] + [f"/{REPO}/blob/{sha}/src/app.py"]
    for path in paths:
        html = page(lively, path)
        assert "<script" not in html, path
        assert "<img" not in html, path
        assert not re.search(r"""(src|href)=["']?https?://(?!127\.0\.0\.1)""", html), path


def test_threads_show_their_markdown(lively: StandIn) -> None:
    html = page(lively, f"/{REPO}/issues/1")
    assert "<th>a</th>" in html
    assert "mendbot:x" not in html
    assert f'<a href="{lively.url}/{REPO}/issues/1">#1</a>' in html
    assert "bug" in html


def test_a_pull_request_shows_checks_with_icons_and_its_diff(lively: StandIn) -> None:
    html = page(lively, f"/{REPO}/pull/2")
    icons = dict(re.findall(r'>(\S)</span> <a href="[^"]*/runs/\d+">([^<]+)</a>', html))
    assert {name: sign for sign, name in icons.items()} == {
        "mendbot / test": "✗",
        "mendbot / lint": "✓",
        "mendbot / fix": "●",
    }
    assert '<tr class="removed"><td>-x = 1</td></tr>' in html


def test_a_check_run_shows_summary_and_annotations(lively: StandIn, world: World) -> None:
    html = page(lively, f"/{REPO}/runs/{world.check_runs(REPO)[0].id}")
    assert "<details><summary>Log</summary>" in html
    assert re.search(r'href="[^"]*/blob/[0-9a-f]{40}/src/app.py#L1">src/app.py:1<', html)


def test_what_is_not_there_is_a_404(lively: StandIn) -> None:
    paths = ("/octo/none", f"/{REPO}/issues/9", f"/{REPO}/runs/1", f"/{REPO}/commit/none", f"/{REPO}/blob/main/none")
    for path in (*paths, f"/{REPO}/blob/main/src", f"/{REPO}/commit/--output=x"):
        assert httpx2.get(lively.url + path).status_code == 404, path


def test_addresses_given_to_programs_are_pages(lively: StandIn, world: World) -> None:
    urls = [world.issue(REPO, 1).url, world.pulls(REPO)[0].url, *(run.url for run in world.check_runs(REPO))]
    for url in urls:
        assert httpx2.get(url).status_code == 200
    assert world.pulls(REPO)[0].url.endswith("/pull/2")


@given(st.text(alphabet="<>/!-abdetilsumry \n\"'=`#1[]()&;:j", max_size=60))
def test_no_text_makes_a_tag_that_is_not_harmless(text: str) -> None:
    made = str(markdown(text, "http://127.0.0.1/o/r"))
    for name, attributes in re.findall(r"<([a-zA-Z][a-zA-Z0-9]*)((?:[^>\"]|\"[^\"]*\")*)>", made):
        assert name in _HARMLESS, made
        assert not re.search(r"\bon\w+=|javascript:", re.sub(r'"[^"]*"', "", attributes)), made


_HARMLESS = frozenset(
    [
        "p",
        "a",
        "em",
        "strong",
        "code",
        "pre",
        "blockquote",
        "ul",
        "ol",
        "li",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "br",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "s",
        "img",
        "b",
        "i",
        "sub",
        "sup",
        "kbd",
        "details",
        "summary",
    ]
)


def test_known_tags_stay_and_comments_go() -> None:
    assert known_html("<b><u onclick=x></b>") == "<b>&lt;u onclick=x&gt;</b>"
    assert known_html("<details open><b>x</b><!-- gone --><i onclick=x>") == (
        "<details open><b>x</b>&lt;i onclick=x&gt;"
    )
    assert "javascript:" not in str(markdown("<javascript:alert(1)>", "")).replace("&lt;javascript:", "")
    assert diff_lines("@@ -1 +1 @@\n-a\n+b\n c") == [
        ("place", "@@ -1 +1 @@"),
        ("removed", "-a"),
        ("added", "+b"),
        ("same", " c"),
    ]
