"""What `mendbot history trial` prints about each possible result."""

from __future__ import annotations

import pytest

from bot.model import Language
from bot.reports.history.guidance_trial import trial_text
from bot.rules.history.guidance_trial import trial_of


@pytest.mark.parametrize(
    ("figures", "language", "last"),
    [
        ((0, 0, 0, 0), "en", "No run is in the trial"),
        ((5, 5, 0, 0), "en", "One group has no run yet"),
        ((90, 81, 10, 5), "en", "Guidance helps."),
        ((90, 18, 10, 9), "en", "Runs with guidance pass more rarely."),
        ((9, 5, 2, 1), "en", "The interval includes 0"),
        ((90, 81, 10, 5), "ko", "안내가 도움이 됩니다."),
    ],
)
def test_the_last_line_says_what_the_figures_show(
    figures: tuple[int, int, int, int], language: Language, last: str
) -> None:
    assert trial_text(trial_of(*figures), language).splitlines()[-1].startswith(last)
