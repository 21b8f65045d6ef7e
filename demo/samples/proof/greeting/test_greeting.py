from __future__ import annotations

from greeting import render


def test_a_greeting_has_the_name() -> None:
    assert render({"name": "Ada"}) == "Hello, Ada!"
