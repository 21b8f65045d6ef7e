"""The evidence for a verdict, as text: how often the test failed and passed, and where."""

from __future__ import annotations

from bot.model import Language
from bot.model.pulls import Failure, RunCounts
from bot.reports.locale.catalog import t


def evidence(failure: Failure, head: str, base: str, language: Language) -> list[str]:
    """Returns the figures of the runs, then what follows from them. `head` and `base` are the commits as Markdown;
    `base` is empty if it is unknown."""
    base = base or t(language, "pull_check.evidence.merge_base")
    figures = [_runs(failure.head, head, language), _runs(failure.base, base, language)]
    if failure.base_absent:
        figures.append(t(language, "pull_check.evidence.absent", base=base))
    if failure.before.total:
        before = failure.before
        figures.append(t(language, "pull_check.evidence.before", failed=before.failed, runs=before.total))
    return [", ".join(filter(None, figures)), _reason(failure, language)]


def _runs(counts: RunCounts, commit: str, language: Language) -> str:
    if not counts.total:
        return ""
    name = "failed" if counts.failed else "passed"
    number = {"failed": counts.failed, "passed": counts.passed}[name]
    return t(language, f"pull_check.evidence.{name}", **{name: number}, runs=counts.total, commit=commit)


def _reason(failure: Failure, language: Language) -> str:
    match failure.verdict:
        case "existing" | "not_reached" | "unsure":
            return t(language, f"pull_check.evidence.{failure.verdict}")
        case "new_flaky":
            return t(language, f"pull_check.evidence.{'touched' if failure.touched else 'untouched'}")
        case _:
            return ""
