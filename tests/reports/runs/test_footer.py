"""The small print: a full sandbox by its name alone, anything weaker with what it lacks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.model import Language, RunView, Usage
from bot.model.agents import NO_MODEL
from bot.reports.locale.reasons import english
from bot.reports.runs.footer import footer, sandbox_words
from bot.reports.runs.issue_comment import issue_comment
from bot.reports.runs.usage import usage_words
from bot.rules.reasons import make_reason, quoted
from bot.workspace.sandbox.sandbox import open_sandbox
from tests.reports.hostile_texts import LANGUAGES

FULL = make_reason("sandbox.bubblewrap", version="bubblewrap 0.11.0")
ROOT = make_reason("sandbox.bubblewrap.root", version="bubblewrap 0.11.0")
NONE = make_reason("sandbox.none")
BROKEN = make_reason("sandbox.trusted_only", why=quoted("bwrap: no"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_level_is_named_and_what_it_lacks_with_it(language: Language) -> None:
    full, root, none, broken = (sandbox_words(one, language) for one in (FULL, ROOT, NONE, BROKEN))
    assert full.endswith(": bubblewrap")
    assert "bubblewrap" in root and "root" in root
    assert "none" in none and "none" in broken and "bwrap" not in broken
    assert len({full, root, none, broken}) == 4


def test_another_level_is_named_in_its_own_words_which_are_escaped() -> None:
    refused = make_reason("sandbox.refused", why=quoted("@ann"))
    assert sandbox_words(refused, "en").endswith("does not work here (@&#8203;ann)")


@pytest.mark.parametrize("mode", ["auto", "none"])
async def test_the_description_of_a_real_sandbox_has_a_short_form(mode: str) -> None:
    description = (await open_sandbox(mode, ())).description  # type: ignore[arg-type]
    line = footer("run-1", description, "en")
    assert line.startswith("<sub>Run `run-1` · Sandbox: ") and english(description) not in line


def test_every_kind_of_report_ends_with_the_same_line(view: Callable[[str], RunView]) -> None:
    run = view("failed").model_copy(update={"sandbox": ROOT})
    last = "<sub>Run `fix-7f3a9c` · Sandbox: bubblewrap, as root (no limit on processes)</sub>"
    assert issue_comment(run).endswith(last)
    assert footer("", None, "en") == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_agents_used_is_in_the_last_line_unless_no_model_was_asked(language: Language) -> None:
    """REQ-RUN-008."""
    usage = Usage(duration_ms=42_000, input_tokens=12_000, output_tokens=345, cost_usd=0.123)
    assert footer("run-1", None, language, usage).endswith(f" · {usage_words(usage, language)}</sub>")
    assert footer("run-1", None, language, NO_MODEL) == footer("run-1", None, language)
