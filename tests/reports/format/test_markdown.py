"""Untrusted words stay words: nobody is mentioned, nothing is linked, referred to, closed or drawn (T36)."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.format.markdown import details, escape, link, page, plain, table, within
from tests.reports.format.markdown_leaves import MENTION, PARSER, leaves

HOSTILE = [
    "@everyone look",
    "mail me: a@example.org",
    "@acme/core-team",
    "(@admin)",
    "fixes #1",
    "Closes acme/shop#12",
    "resolves GH-7 and gh-8",
    "fixes https://github.com/acme/shop/issues/1",
    "www.example.org",
    "ftp://example.org",
    "<https://example.org>",
    "<a@example.org>",
    "[click](https://evil.example)",
    "[click][1]",
    "[1]: https://evil.example",
    "![pixel](https://evil.example/p.png)",
    "![x][y]",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<!-- mendbot:issue -->",
    "<!--",
    "--> out",
    "</details></details>",
    "<details open>",
    "&lt;b&gt; &#64;admin &commat;admin",
    "`code` @x `",
    "```\nfence\n```",
    "~~~\nfence",
    "# heading",
    "Title\n=====",
    "---",
    "- item",
    "+ item",
    "* item",
    "1. item",
    "12) item",
    "> quote",
    "> [!WARNING]",
    "a | b\n--|--\nc | d",
    "    indented code",
    "**bold** _it_ ~~gone~~",
    "\\@admin \\#1 \\[x](y)",
    "$x^2$ and $$y$$",
    "[^1] and [x] task",
    ":--",
    "\u202eadmin@",
    "\x1b]8;;https://evil.example\x07x\x1b]8;;\x07",
]
PLACES = ["{}", "- {}", "before {} after", "| a |\n| --- |\n| {} |", "> {}", "line above\n{}"]
REFERENCE = re.compile(r"#\d|(?<![A-Za-z0-9])GH-\d", re.IGNORECASE)
ADDRESS = re.compile(r"[a-z]://|(?<![A-Za-z0-9])www\.", re.IGNORECASE)


@pytest.mark.parametrize("text", HOSTILE)
def test_untrusted_words_draw_nothing_wherever_they_stand(text: str) -> None:
    for place in PLACES:
        harmless = [token.type for token in leaves(place.format("word"))]
        shown = leaves(place.format(escape(text)))
        assert [token.type for token in shown if token.type != "text_special"] == harmless, place
        words = "".join(token.content for token in shown)
        assert not MENTION.search(words) and not REFERENCE.search(words) and not ADDRESS.search(words), place


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_shown_reads_as_it_was_written(text: str) -> None:
    rendered = html.unescape(re.sub("<[^>]*>", "", PARSER.render(f"x {escape(text)}")))
    written = re.sub(r"\x1b\][^\x07]*\x07", "", text).replace("\u202e", "\\u202e")
    assert rendered.replace("\u200b", "").split() == ["x", *written.split()]


@given(st.text(alphabet="@#:/w.GH-1aZ`*_[]()<>!|~$&\\ \n=+>-😀", max_size=40))
def test_no_combination_gets_through(text: str) -> None:
    tokens = leaves(f"x {escape(text)}")
    assert {token.type for token in tokens} <= {"paragraph_open", "paragraph_close", "text", "text_special"}
    words = "".join(token.content for token in tokens)
    assert not MENTION.search(words) and not REFERENCE.search(words) and not ADDRESS.search(words)


@pytest.mark.parametrize("text", HOSTILE)
def test_titles_and_commit_messages_mention_and_close_nothing(text: str) -> None:
    line = plain(text)
    assert line.replace("\u200b", "").isprintable()
    assert not MENTION.search(line) and not REFERENCE.search(line) and not ADDRESS.search(line)


@given(st.text(alphabet="@#1: a/", max_size=40), st.integers(0, 30))
def test_a_plain_line_keeps_its_limit(text: str, limit: int) -> None:
    assert len(plain(text, limit)) <= limit


def test_a_cell_with_a_bar_stays_one_cell() -> None:
    tokens = PARSER.parse(table(["a", "b"], [["`x|y`", escape("p|q")], [r"`grep 'a\|b'`", "z"]]))
    cells = [token.content for token in tokens if token.type == "inline"]
    assert cells == ["a", "b", "`x|y`", "p&#124;q", r"`grep 'a\|b'`", "z"]


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "https://x.example/)[y](z", "https://x.example/ a", "//x", ""]
)
def test_only_plain_addresses_become_links(address: str) -> None:
    assert link("words", address) == "words"


def test_a_pull_requests_address_becomes_a_link() -> None:
    assert link("#1", "http://127.0.0.1:3000/a/b/pull/1") == "[#1](http://127.0.0.1:3000/a/b/pull/1)"


@pytest.mark.parametrize("words", ["[skip ci]", "[ci skip]", "[No CI]", "[skip actions]", "[actions skip]"])
def test_a_title_keeps_no_workflow_from_running(words: str) -> None:
    assert words not in plain(f"a {words}")
    assert plain(f"a {words}").replace("\u200b", "") == f"a {words}"


@given(st.lists(st.text(alphabet="a<\n`", max_size=60)), st.integers(60, 200))
def test_a_page_keeps_its_limit_and_leaves_no_fold_open(texts: list[str], limit: int) -> None:
    parts = [details("more", escape(text)) if at % 2 else escape(text) for at, text in enumerate(texts)]
    told = page(parts, "en", limit)
    assert len(told) <= limit
    assert told.count("<details>") == told.count("</details>")


def test_of_two_folds_the_last_is_left_out_first() -> None:
    first, last = details("a", "a" * 40), details("b", "b" * 40)
    assert page(["x", first, "", last], "en", 170) == f"x\n\n{first}\n\n[… {len(last)} characters cut …]"


def test_the_fold_to_keep_is_left_out_after_all_others() -> None:
    first, last, kept = details("a", "a" * 40), details("b", "b" * 40), details("c", "c" * 40)
    cut = f"[… {len(kept)} characters cut …]"
    assert page(["x", first, last], "en", 250, keep=kept) == f"x\n\n{first}\n\n{cut}\n\n{kept}"
    assert page(["x", first, last], "en", 190, keep=kept) == f"x\n\n{cut}\n\n{cut}\n\n{kept}"
    assert page(["x", first, last], "en", 105, keep=kept) == f"x\n\n{cut}\n\n{cut}\n\n{cut}"
    assert page(["x"], "en", 190, keep=kept) == f"x\n\n{kept}"


def test_as_many_items_as_there_is_room_for_and_always_one() -> None:
    assert within(["aaa", "bb", "c"], 5) == ["aaa", "bb"]
    assert within(["aaa"], 1) == ["aaa"]
    assert within([], 1) == []
