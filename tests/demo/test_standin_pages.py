"""The pages show what is there, and nobody's text becomes markup."""

from __future__ import annotations

import re

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demo.standin import StandIn, World
from demo.standin.pages.markdown import diff_lines, known_html, markdown
from tests.demo.conftest import REPO, Api

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
    assert '<tr class="removed"><td class="number">1</td><td class="number"></td><td>-x = 1</td></tr>' in html


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


def test_lines_of_a_diff_are_numbered_on_both_sides() -> None:
    patch = "@@ -1,3 +1,4 @@\n-a\n+b\n+c\n d\n-e\n+f\n\\ No newline at end of file\n@@ -9 +10 @@ f\n--- x"
    shown = [(line.kind, line.old, line.new) for line in diff_lines(patch)]
    assert shown == [
        ("place", None, None),
        ("removed", 1, None),
        ("added", None, 1),
        ("added", None, 2),
        ("same", 2, 3),
        ("removed", 3, None),
        ("added", None, 4),
        ("same", None, None),
        ("place", None, None),
        ("removed", 9, None),
    ]


def test_a_pull_request_shows_what_was_said_in_reviews_in_order(lively: StandIn, world: World) -> None:
    world.review(REPO, 2, "**First**", "ann", state="changes_requested")
    comment = world.review_comment(REPO, 2, "_Second_ " + EVIL, "ann", path="src/app.py", line=1)
    world.review(REPO, 2, "", "ann", state="approved")
    html = page(lively, f"/{REPO}/pull/2")
    said = [html.index(text) for text in ("requested changes", "<strong>First", "<em>Second", "approved these changes")]
    assert said == sorted(said)
    assert html.count("pullrequestreview-") == 2, "the review around a single comment is not shown"
    assert f'id="discussion_r{comment}"' in html
    assert world.review_comments(REPO, 2)[0].url.endswith(f"#discussion_r{comment}")
    assert "<script" not in html


def test_reactions_are_counted_with_who_gave_them(lively: StandIn, world: World, api: Api) -> None:
    comment = world.comment(REPO, 1, "/mendbot fix", "bob")
    for content in ("eyes", "rocket"):
        api.ok("POST", f"{HOME}/issues/comments/{comment}/reactions", {"content": content})
    world.react(comment, "eyes", "ann")
    html = page(lively, f"/{REPO}/issues/1")
    assert re.findall(r'title="([^"]*)">([👀🚀] \w+ \d)<', html) == [
        ("mendbot[bot], ann", "👀 eyes 2"),
        ("mendbot[bot]", "🚀 rocket 1"),
    ]


def test_checks_show_outcome_text_places_and_buttons(lively: StandIn, world: World, api: Api) -> None:
    sha = world.pulls(REPO)[0].head_sha
    note = {"path": "src/app.py", "start_line": 1, "end_line": 1, "annotation_level": "warning", "message": "odd"}
    output = {"title": "T & T", "summary": "| a |\n|---|\n| 1 |", "text": "```\nlog\n```\n<sub>small</sub><br>"}
    note |= {"title": "Odd", "raw_details": "all of it"}
    button = {"label": "Fix", "description": "Mend what failed", "identifier": "fix"}
    run = {"name": "mendbot / types", "head_sha": sha, "conclusion": "failure", "actions": [button]}
    output["annotations"] = [note]
    made = api.ok("POST", f"{HOME}/check-runs", {**run, "output": output, "details_url": "https://m.example/runs/1"})
    for path in (f"/{REPO}/pull/2", f"/{REPO}/runs/{made['id']}"):
        html = page(lively, path)
        assert "<h3>T &amp; T</h3>" in html
        assert "<th>a</th>" in html
        assert "<pre><code>log\n</code></pre>" in html
        assert "<sub>small</sub><br>" in html
        assert re.search(
            r'warning">warning</span>\s*<a href="[^"]*#L1">src/app.py:1</a>\s*<b>Odd</b><pre>odd</pre>', html
        )
        assert '<span class="button" title="Mend what failed">Fix</span>' in html
    assert 'href="https://m.example/runs/1"' in html
    api.ok("PATCH", f"{HOME}/check-runs/{made['id']}", {"details_url": "javascript:alert(1)"})
    assert "javascript:" not in page(lively, f"/{REPO}/runs/{made['id']}")


def test_a_draft_is_shown_as_one(lively: StandIn, world: World) -> None:
    world.convert_to_draft(REPO, 2, "ann")
    assert '<span class="pill state draft">Draft</span>' in page(lively, f"/{REPO}/pull/2")
    world.close_issue(REPO, 2, "ann")
    assert '<span class="pill state closed">Closed</span>' in page(lively, f"/{REPO}/pull/2")
