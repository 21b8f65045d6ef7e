"""Nothing leaves its size or its box: control characters, cuts, fences (T38, T39)."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.reports.format.truncate import (
    cut_bytes,
    cut_chars,
    cut_lines,
    cut_middle,
    fence,
    inline_code,
    one_line,
    strip_control,
)

WILD = st.text(
    alphabet=st.characters(codec=None) | st.sampled_from("\x1b[];m\x07\x9b\x9d\r\n\t\u202e\u2066\ufeff\\`~ ")
)
MARKDOWN = st.lists(
    st.sampled_from(["```", "~~~~", "`````", " ```", "text", "\n", "\n\n", "😀", "    ```", "`", "é", " "])
).map("".join)


@given(WILD)
def test_only_printable_characters_line_breaks_and_tabs_are_left(text: str) -> None:
    kept = strip_control(text)
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]", kept
    )
    assert strip_control(kept) == kept
    kept.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("\x1b[31mred\x1b[0m \x1b[1;4;38;5;12mx\x1b[K", "red x"),
        ("\x1b]8;;https://evil.example\x07click\x1b]8;;\x1b\\ here", "click here"),
        ("\x1b]0;title never ended\nnext line", "\nnext line"),
        ("10%\r50%\r100%\r\ndone", "10%\n50%\n100%\ndone"),
        ("a\x00b\x08c\x7f\x85", "abc"),
        ("if admin\u202e# user", "if admin\\u202e# user"),
        ("\x9b31mC1\x9d0;t\x9c", "C1"),
        ("ghs_\x1b[0mabc", "ghs_abc"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("lone \ud83d", "lone \ufffd"),
        ("한국어 😀\tok", "한국어 😀\tok"),
    ],
)
def test_terminal_sequences_go_and_tricks_are_shown(text: str, kept: str) -> None:
    assert strip_control(text) == kept


@given(st.text(max_size=400), st.integers(0, 300))
def test_a_cut_in_the_middle_keeps_its_limit_and_both_ends(text: str, limit: int) -> None:
    cut = cut_middle(text, limit)
    assert len(cut) <= limit or cut == text
    if len(text) > limit >= 40:
        head, dropped, tail = re.split(r"\n\[… (\d+) characters cut …\]\n", cut, maxsplit=1)
        assert text.startswith(head) and text.endswith(tail)
        assert len(head) + len(tail) + int(dropped) == len(text)


@given(
    st.lists(st.text(alphabet="ab", max_size=30), max_size=60).map("\n".join), st.integers(1, 50), st.integers(1, 40)
)
def test_a_cut_by_lines_keeps_both_limits(text: str, limit: int, width: int) -> None:
    lines = cut_lines(text, limit, width).split("\n")
    assert len(lines) <= limit
    assert all(len(line) <= width or line.startswith("[… ") for line in lines)


@given(MARKDOWN, st.integers(0, 200))
@example("```\n" + "x" * 400, 60)
@example("`" * 300 + "\nx", 120)
@example("````\n```\n" + "x" * 400, 90)
@example("😀" * 16_384, 65_000)
@example("😀" * 100, 201)
def test_a_cut_by_size_keeps_its_limit_and_leaves_no_fence_open(text: str, limit: int) -> None:
    for cut, size in ((cut_bytes(text, limit), lambda t: len(t.encode())), (cut_chars(text, limit), len)):
        assert size(cut) <= limit
        if size(text) <= limit:
            assert cut == text
        elif limit >= 80:
            assert re.search(r"\[… \d+ (bytes|characters) cut …\]\Z", cut)
            last = MarkdownIt("commonmark").parse(cut)[-2]
            assert last.type == "inline" and "cut …]" in last.content


@given(st.text(alphabet="`~ab\n \\", max_size=60))
def test_nothing_gets_out_of_a_fence(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"before\n\n{fence(text, 'text')}\n\nafter")
    assert [token.type for token in tokens].count("fence") == 1
    assert next(token.content for token in tokens if token.type == "fence").rstrip("\n") == text.rstrip("\n")
    assert tokens[-2].content == "after"


@given(st.text(alphabet="`ab |<\n@", max_size=40))
def test_inline_code_is_code_whatever_it_holds(text: str) -> None:
    inline = MarkdownIt("commonmark").parse(f"x {inline_code(text)} y")[1]
    assert [child.type for child in inline.children or []] == ["text", "code_inline", "text"]
    assert (inline.children or [])[1].content == (" ".join(text.split()) or '""')


@given(st.text(), st.integers(0, 50))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit and "\n" not in line


def test_a_cut_between_lines_leaves_no_half_of_a_link_and_a_single_line_is_cut_all_the_same() -> None:
    line = "- [words](https://github.com/acme/shop/commit/1f0c5a8e9d)"
    told = cut_chars("\n".join([line] * 100), 1_000, whole_lines=True)
    assert len(told) <= 1_000 and "characters cut" in told
    assert set(told.split("\n")[:-2]) == {line}
    assert len(cut_chars("x" * 2_000, 1_000, whole_lines=True)) > 900


def test_a_cut_is_marked_in_the_readers_language() -> None:
    text = "줄\n" * 500
    assert "줄 생략 …]" in cut_lines(text, language="ko") and "lines" not in cut_lines(text, language="ko")
    assert re.search(r"\[… \d+자 생략 …\]", cut_middle(text, 200, "ko"))
    assert re.search(r"\[… \d+자 생략 …\]\Z", cut_chars(text, 200, "ko"))
    assert re.search(r"\[… \d+바이트 생략 …\]\Z", cut_bytes(text, 200, "ko"))
