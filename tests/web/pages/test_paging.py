"""Pages of a list."""

from __future__ import annotations

import pytest

from bot.web.pages.paging import MAX_PAGE, Paging, page_number


@pytest.mark.parametrize(
    ("text", "number"), [("", 1), ("3", 3), ("0", 1), ("-1", 1), ("x", 1), ("٣", 1), ("999999", MAX_PAGE)]
)
def test_a_page_has_a_number_from_one(text: str, number: int) -> None:
    assert page_number(text) == number


def test_the_pages_before_and_after_keep_the_filter() -> None:
    paging = Paging.of("/history", {"file": "a b&c", "repo": ""}, 2, 10, 25)
    assert paging.previous == "/history?file=a+b%26c&page=1" and paging.next == "/history?file=a+b%26c&page=3"
    assert (Paging.of("/x", {}, 3, 10, 25).next, Paging.of("/x", {}, 1, 10, 0).pages) == ("", 1)
    assert Paging.of("/x", {}, 99, 10, 25).previous == "/x?page=3"
