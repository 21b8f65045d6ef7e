"""The catalog has the reasons for which a command is refused, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from bot.reports.locale.catalog import messages
from bot.rules.triage import decide as issues
from bot.workflows import commands, pulls, pushes

REFUSALS = {key.removeprefix("refused.") for key in messages("en") if key.startswith("refused.")}


def test_no_reason_is_unknown_or_left_over() -> None:
    paths = [path for package in (commands, pulls, pushes) for path in Path(package.__path__[0]).rglob("*.py")]
    texts = [path.read_text() for path in (*paths, Path(issues.__file__))]
    named = {name for text in texts for name in re.findall(r'"([a-z]+(?:_[a-z]+)*)"', text)}
    assert named >= REFUSALS
    used = {name for text in texts for name in re.findall(r'refused\(ask, "(\w+)"', text)}
    assert used <= REFUSALS
