"""Why a check of `run_checks` failed: in English for programs, and in the language of a terminal."""

from __future__ import annotations

from bot.model import CheckResult, Language, ValidationStep
from bot.reports.format.truncate import cut_middle
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import reason_text
from bot.reports.runs.failures import describe_failures
from bot.reports.runs.validation import how_it_ended

_LIMIT = 5_000


def check_error(step: CheckResult | ValidationStep, language: Language) -> str:
    """Returns the first failure of a failed check in full, the names of others, and how its command ended.

    For a check without a command, it is what was looked for. Texts of more than 5,000 characters are cut."""
    if isinstance(step, CheckResult) and step.no_command is not None:
        return reason_text(step.no_command, language)
    if step.could_not_run is not None or step.timed_out or step.over_memory_mb:
        how = how_it_ended(step, language)
    elif step.exit_code is not None:
        how = t(language, "check_log.exited", code=step.exit_code)
    else:
        how = t(language, "check_log.unfinished")
    failures = describe_failures(step.failures, step.failure_count, language)
    ended = t(language, "check_log.ended", command=step.command, how=how)
    return cut_middle(f"{failures}\n\n{ended}".strip("\n"), _LIMIT)
