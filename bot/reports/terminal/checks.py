"""Terminal lines of `mendbot check`: one as each check begins and ends, the results, and a summary."""

from __future__ import annotations

from collections.abc import Mapping

from bot.model import CheckProgress, CheckResult, Language, RunChecksResult
from bot.reports.format.truncate import inline_code, one_line
from bot.reports.locale.catalog import duration, t
from bot.reports.runs.check_error import check_error
from bot.reports.runs.failures import headline
from bot.reports.runs.missing_setup import not_set_up, setup_sentence
from bot.reports.terminal.altered_files import altered_lines

__all__ = ["problem_line", "progress_line", "result_lines", "summary_line"]

_COMMAND_CHARS = 500


def progress_line(progress: CheckProgress, language: Language) -> str:
    """Returns one line for a check that begins, or for one that has ended."""
    if progress.result is None:
        key = "local.begins" if progress.attempt == 1 else "local.begins.again"
        command = inline_code(progress.command, _COMMAND_CHARS)
        return t(language, key, check=progress.check, command=command, attempt=progress.attempt)
    verdict = t(language, f"local.{_verdict(progress.result)}")
    time = duration(language, progress.result.duration_ms)
    return t(language, "local.ended", check=progress.check, verdict=verdict, time=time)


def result_lines(result: RunChecksResult, language: Language) -> tuple[str, ...]:
    """Returns each check with its command and, if it failed, the error; then the checks that were not run."""
    lines = []
    for check in result.results:
        mark, how = "✓" if check.passed else "✗", _how(check, language)
        what = headline(check.failures[0], language) if check.failures and not not_set_up(check) else ""
        lines.append(t(language, "local.result", mark=mark, check=check.check, how=what or how))
        lines += [how] if what else []
        if not check.passed and (error := _error(check, language)):
            lines.append(error)
        lines += altered_lines(check, language)
    not_run = t(language, "local.not_run")
    lines += [t(language, "local.result", mark="-", check=name, how=not_run) for name in result.not_run]
    return tuple(lines)


def summary_line(result: RunChecksResult, language: Language) -> str:
    """Returns how many checks passed, failed, could not run and were not run, and the total time of their last runs."""
    counted: Mapping[str, int] = {
        "passed": sum(check.passed for check in result.results),
        "failed": sum(_verdict(check) in ("failed", "timed_out") for check in result.results),
        "unable": sum(_verdict(check) == "unable" for check in result.results),
        "not_run": len(result.not_run),
    }
    counts = [t(language, f"local.sum.{kind}", count=count) for kind, count in counted.items() if count]
    time = duration(language, sum(check.duration_ms for check in result.results))
    return t(language, "local.sum", counts=", ".join(counts), time=time)


def _verdict(result: CheckResult) -> str:
    if result.passed:
        return "passed"
    if result.could_not_run is not None or not result.command:
        return "unable"
    return "timed_out" if result.timed_out else "failed"


def _how(result: CheckResult, language: Language) -> str:
    if not result.command or not_set_up(result):
        return t(language, "local.did_not_run")
    command, time = inline_code(result.command, _COMMAND_CHARS), duration(language, result.duration_ms)
    ran = t(language, "local.ran", command=command, time=time)
    return f"{ran} {t(language, 'local.flaky')}" if result.flaky else ran


def _error(result: CheckResult, language: Language) -> str | None:
    needed = result.could_not_run.setup if result.could_not_run is not None else None
    if needed is not None:
        return one_line(setup_sentence(needed, language))
    # the line above has the headline already
    shown_headline = headline(result.failures[0], language) if result.failures else ""
    return check_error(result, language).removeprefix(shown_headline).strip("\n")


def problem_line(result: RunChecksResult, language: Language) -> str:
    """Returns why no check ran; empty if there is no such problem."""
    unfound = next((check for check in result.results if check.no_command is not None), None)
    return check_error(unfound, language) if unfound is not None else result.error or ""
