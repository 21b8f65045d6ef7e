"""The small print: a whole box by its name alone, anything weaker with what it lacks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.model import Language, RunView
from bot.reports.runs.footer import footer, sandbox_words
from bot.reports.runs.issue_comment import issue_comment
from bot.workspace.sandbox.sandbox import open_sandbox
from tests.reports.hostile_texts import LANGUAGES

WHOLE = "bubblewrap 0.11.0 (no network, own processes)"
ROOT = "bubblewrap 0.11.0 (no network, own processes; as root, so the limit on processes does not bind)"
NONE = "none: checks run as this user, with this machine's files"
BROKEN = "none: the box does not work here (bwrap: no); only code of people with write access runs, as this user"


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_level_is_named_and_what_it_lacks_with_it(language: Language) -> None:
    told = {line: sandbox_words(line, language) for line in (WHOLE, ROOT, NONE, BROKEN)}
    assert told[WHOLE].endswith(": bubblewrap")
    assert "bubblewrap" in told[ROOT] and "root" in told[ROOT]
    assert "none" in told[NONE] and "none" in told[BROKEN] and "bwrap" not in told[BROKEN]
    assert len(set(told.values())) == 4


@pytest.mark.parametrize("line", ["none: @ann", "bubblewrap 1 (network)", "refused: x", f"{WHOLE} or so"])
def test_a_line_that_is_not_known_is_told_as_it_is(line: str) -> None:
    assert sandbox_words(line, "en") == f"Sandbox: {line.replace('@', '@&#8203;')}"


@pytest.mark.parametrize("mode", ["auto", "none"])
async def test_what_the_sandbox_says_of_itself_is_known_here(mode: str) -> None:
    line = (await open_sandbox(mode, ())).describe()  # type: ignore[arg-type]
    told = footer("run-1", line, "en")
    assert told.startswith("<sub>Run `run-1` · Sandbox: ") and line not in told


def test_every_kind_of_report_ends_with_the_same_line(view: Callable[[str], RunView]) -> None:
    told = view("failed").model_copy(update={"sandbox": ROOT})
    last = "<sub>Run `fix-7f3a9c` · Sandbox: bubblewrap, as root (no limit on processes)</sub>"
    assert issue_comment(told).endswith(last)
    assert footer("", "", "en") == ""
