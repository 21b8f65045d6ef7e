"""Times and colours on the pages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.web.pages.rendering import age, color, instant, milliseconds, with_code

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "just now"), (59, "just now"), (60, "1 min ago"), (7200, "2 h ago"), (86_400, "1 day ago"),
     (3 * 86_400, "3 days ago"), (8 * 86_400, "2026-11-13")],
)  # fmt: skip
def test_an_age_is_told_in_the_unit_that_fits(seconds: int, text: str) -> None:
    assert age("en", int((NOW - seconds) * 1000), NOW) == text


def test_instants_are_utc_and_colors_by_state() -> None:
    assert instant(int(NOW * 1000)) == "2026-11-21T12:00:00Z"
    assert milliseconds(datetime(2026, 11, 21, 12, tzinfo=UTC)) == NOW * 1000
    assert (color("success"), color("failed"), color("whatever")) == ("good", "bad", "neutral")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("run `a <b>` & c", "run <code>a &lt;b&gt;</code> &amp; c"),
        ("a ` alone <", "a ` alone &lt;"),
        ("under *Install App* of <it>", "under <em>Install App</em> of &lt;it&gt;"),
        ("*Redeliver* of the *Advanced* page", "<em>Redeliver</em> of the <em>Advanced</em> page"),
        ("`*Not This*` and *.lock, *.py", "<code>*Not This*</code> and *.lock, *.py"),
        ("a*B*c, **Bold**, 2 * A * b, *<b>*", "a*B*c, **Bold**, 2 * A * b, *&lt;b&gt;*"),
    ],
)
def test_code_and_names_are_marked_and_all_else_is_text(text: str, shown: str) -> None:
    assert with_code(text) == shown
    assert with_code(with_code(text)) == shown
