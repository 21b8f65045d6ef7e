"""Every reason for which a command is not done is said in every language, with the same facts."""

from __future__ import annotations

import re
from pathlib import Path

from bot.reports.locale.refusals import REFUSALS
from bot.rules.triage import issues
from bot.workflows import commands, pulls, pushes


def test_each_reason_stands_in_both_languages_with_the_same_values() -> None:
    english, korean = REFUSALS["en"], REFUSALS["ko"]
    assert english.keys() == korean.keys()
    for name, sentence in english.items():
        assert set(re.findall(r"\{(\w+)", sentence)) == set(re.findall(r"\{(\w+)", korean[name])), name


def test_no_reason_is_unknown_or_left_over() -> None:
    paths = [path for package in (commands, pulls, pushes) for path in Path(package.__path__[0]).glob("*.py")]
    texts = [path.read_text() for path in (*paths, Path(issues.__file__))]
    named = {name for text in texts for name in re.findall(r'"([a-z]+(?:_[a-z]+)*)"', text)}
    assert REFUSALS["en"].keys() <= named
    used = {name for text in texts for name in re.findall(r'refused\(ask, "(\w+)"', text)}
    assert used <= REFUSALS["en"].keys()
