from __future__ import annotations

from notes import title


def test_the_title_is_the_first_line() -> None:
    assert title("\nMilk\nand bread\n") == "Milk"
