"""The candidates of an attempt: a table for GitHub, and the words for a terminal and a page."""

from __future__ import annotations

from bot.model import Language, RunView
from bot.model.candidates import CandidateResult
from bot.model.report_views import Attempt
from bot.reports.format.markdown import details, table
from bot.reports.format.truncate import inline_code, one_line
from bot.reports.locale.catalog import t
from bot.reports.runs.usage import used

_MAX_SECTIONS = 3
_AGENT_CHARS = 60


def candidates_folded(view: RunView, language: Language) -> str:
    """Returns the candidates of the last three attempts that had several, each folded; empty where none had."""
    chosen = [attempt for attempt in view.attempts if attempt.candidates][-_MAX_SECTIONS:]
    return "\n\n".join(
        details(t(language, "candidates.heading", attempt=attempt.attempt), _table(attempt, language))
        for attempt in chosen
    )


def _table(attempt: Attempt, language: Language) -> str:
    keys = ("candidates.candidate", "agent", "result", "attempts.errors", "candidates.proof", "candidates.lines")
    head = [t(language, key) for key in (*keys, "candidates.cost")]
    return table(head, [_row(one, attempt, language) for one in attempt.candidates])


def _row(one: CandidateResult, attempt: Attempt, language: Language) -> list[str]:
    number = str(one.candidate)
    return [
        t(language, "candidates.taken", candidate=number) if one.candidate == attempt.winner else number,
        inline_code(one.agent, _AGENT_CHARS),
        result_words(one, language),
        candidate_errors(one, language) or "–",
        t(language, f"proof.level.{one.proof}") if one.proof else "–",
        str(one.lines) if one.lines is not None else "–",
        used(one.usage, language) if one.usage else t(language, "candidates.unknown"),
    ]


def result_words(one: CandidateResult, language: Language) -> str:
    """Returns how the checks of a candidate ended, such as `passed`, or why there were none."""
    if one.same_as is not None:
        return t(language, "candidates.result.same", candidate=one.same_as)
    return t(language, f"candidates.result.{one.result}")


def candidate_errors(one: CandidateResult, language: Language) -> str:
    """Returns the counts of errors, as in the table of attempts; empty where there are none."""
    counts = (("fixed", one.fixed), ("remaining", one.remaining), ("introduced", one.introduced))
    return " · ".join(t(language, f"errors.{kind}", count=count) for kind, count in counts if count)


def candidate_words(one: CandidateResult, language: Language) -> str:
    """Returns a candidate in one line without its number: `claude: passed, proven, 4 lines, $0.12`."""
    words = [
        result_words(one, language),
        candidate_errors(one, language) if one.result == "failed" else "",
        t(language, f"proof.level.{one.proof}") if one.proof else "",
        t(language, "candidates.size", count=one.lines) if one.lines is not None else "",
        used(one.usage, language) if one.usage else "",
    ]
    return f"{one_line(one.agent, _AGENT_CHARS)}: {', '.join(word for word in words if word)}"
