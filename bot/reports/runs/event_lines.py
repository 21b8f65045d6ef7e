"""A run's events as terminal lines while they happen, for the demo and for `mendbot fix`."""

from __future__ import annotations

import re
from datetime import datetime

from bot.model import Language
from bot.model.events.agents import AgentEnded
from bot.model.events.phases import ImplementationFailed, PackagingCompleted, PlanningStarted
from bot.model.events.proof import ProofDecided, ReproductionCompleted, ReproductionFailed
from bot.model.events.run_event import CandidateEvent, RunEvent
from bot.model.events.runs import (
    AgentStarted,
    AttemptStarted,
    ChangesApplied,
    CheckEnded,
    SessionFinished,
    SetupCompleted,
    SetupFailed,
    SetupStarted,
)
from bot.model.events.tournament import CandidateChosen, CandidateFailed
from bot.reports.format.truncate import one_line
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import reason_text
from bot.reports.runs.candidates import candidate_words
from bot.reports.runs.failures import headline
from bot.reports.runs.usage import amount
from bot.reports.runs.validation import hindrance

_LAST_LINE_CHARS = 80
"""Characters of the last line of a check's output, where most tools print a summary."""
_MAKE_MESSAGE = re.compile(r"g?make(?:\[\d+\])?: ")
"""The start of a message by make itself, such as `Leaving directory`; it follows the tool's own summary."""
_WIDTH = 500
_INDENT = "  "
"""Precedes the events of an attempt."""


def event_line(event: RunEvent, language: Language = "en", *, since: datetime | None = None) -> str | None:
    """Returns an event as one line; None for an event that would only repeat another.

    `since` is when the agent started whose result the event records: the line then includes its duration."""
    text = _attempt_text(event, language)
    indent = _INDENT if text is not None else ""
    text = _run_text(event, language) if text is None else text
    if text is not None and since is not None and _ends_turn(event):
        text = t(language, "event.took", line=text, seconds=f"{(event.ts - since).total_seconds():.1f}")
    return None if text is None else indent + one_line(text, _WIDTH)


def _ends_turn(event: RunEvent) -> bool:
    """Whether the event records what an agent did that was asked just before."""
    if isinstance(event, CandidateEvent):
        return isinstance(event.event, ChangesApplied)
    if isinstance(event, ChangesApplied):
        return event.lines is None  # else it is that of the chosen candidate, written again
    return isinstance(event, CandidateFailed | ImplementationFailed)


def _attempt_text(event: RunEvent, language: Language) -> str | None:
    """Returns the text of an event within an attempt; None for any other."""
    match event:
        case AgentStarted() if event.candidate is not None:
            return t(language, "event.candidate", agent=event.agent, candidate=event.candidate)
        case AgentStarted():
            return t(language, "event.agent", agent=event.agent)
        case CandidateEvent():
            line = _attempt_text(event.event, language)
            return line and t(language, "event.candidate.of", candidate=event.candidate, line=line)
        case CandidateFailed():
            why = reason_text(event.reason, language)
            return t(language, "event.candidate.none", candidate=event.candidate, why=why)
        case CandidateChosen():
            return _chosen(event, language)
        case ChangesApplied():
            return t(language, "event.changed", agent=event.agent, paths=", ".join(event.paths))
        case ImplementationFailed():
            return t(language, "event.no_change", why=reason_text(event.message, language))
        case AgentEnded():
            if not event.usage.tokens and not event.usage.cost_usd:
                return None
            return t(language, "event.usage", agent=event.agent, amount=amount(event.usage, language))
        case CheckEnded():
            return _check(event, language)
        case _:
            return None


def _chosen(event: CandidateChosen, language: Language) -> str:
    winner = next((one for one in event.results if one.candidate == event.winner), None)
    if winner is None:
        return t(language, "event.candidate.no_winner")
    words = {"candidate": winner.candidate, "count": len(event.results), "result": candidate_words(winner, language)}
    return t(language, "event.candidate.chosen", **words)


def _run_text(event: RunEvent, language: Language) -> str | None:
    match event:
        case PlanningStarted():
            key = "event.worktree" if event.branch else "event.worktree.none"
            return t(language, key, branch=event.branch, sandbox=reason_text(event.sandbox, language))
        case SetupStarted():
            return t(language, "event.setup", command=event.command)
        case SetupCompleted():
            return t(language, "event.setup.done", seconds=_seconds(event.duration_ms))
        case SetupFailed():
            return t(language, "event.setup.failed", why=reason_text(event.details, language))
        case ReproductionCompleted() | ReproductionFailed():
            return _reproduction(event, language)
        case ProofDecided():
            return t(language, "event.proof", level=t(language, f"proof.level.{event.proof.level}"))
        case AttemptStarted():
            return t(language, "event.attempt", attempt=event.attempt, most=event.of)
        case PackagingCompleted():
            return _packaged(event, language)
        case SessionFinished():
            key = "event.finished.unproven" if event.shown is False else "event.finished"
            stop = event.stop
            why = f" ({stop.reason}: {reason_text(stop.details, language)})" if stop else ""
            return t(language, key, status=event.status) + why
        case _:
            return None


def _reproduction(event: ReproductionCompleted | ReproductionFailed, language: Language) -> str:
    if isinstance(event, ReproductionFailed):
        return t(language, "event.not_reproduced", why=reason_text(event.because, language))
    key = "event.reproduced" if event.tests else "event.reproduced.unnamed"
    return t(language, key, agent=event.agent, tests=", ".join(event.tests))


def _packaged(event: PackagingCompleted, language: Language) -> str:
    if event.commit is None:
        return t(language, "event.diff")
    if event.pull is not None:
        return t(language, "event.opened", sha=event.commit[:10], number=event.pull.number)
    return t(language, "event.pushed", sha=event.commit[:10])


def _last_line(output: str) -> str:
    """Returns the last line of output that is not by make itself; make's own last line if there is no other."""
    lines = [text.strip() for text in output.splitlines() if text.strip()]
    tool_lines = (line for line in reversed(lines) if not _MAKE_MESSAGE.match(line))
    return next(tool_lines, lines[-1] if lines else "")


def _check(event: CheckEnded, language: Language) -> str:
    step = event.step
    if step.skipped and step.could_not_run is not None:
        return t(language, "event.check.unable", check=step.stage, why=hindrance(step.could_not_run, language))
    if step.skipped:
        return t(language, "event.check.left_out" if step.command else "event.check.no_command", check=step.stage)
    attempt = event.attempt or event.iteration
    when = t(language, "event.check.base" if event.iteration == 0 else "event.check.attempt", attempt=attempt)
    if step.tolerated:
        return t(language, "event.check.tolerated", check=step.stage, when=when)
    mark = "✓" if step.passed and event.refused is None else "✗"
    line = t(language, "event.check", mark=mark, check=step.stage, when=when, seconds=_seconds(step.duration_ms))
    key = "event.check.could_not_run" if step.could_not_run else "event.check.failed"
    how = "" if step.passed else t(language, key, classification=event.classification)
    summary = headline(step.failures[0], language) if step.failures else ""
    parts = [line, how, summary or _last_line(step.output)[:_LAST_LINE_CHARS]]
    if event.refused is not None:
        parts.append(t(language, "event.check.refused", why=reason_text(event.refused, language)))
    text = ": ".join(part for part in parts if part)
    if not step.restored:
        return text
    return f"{text}; {t(language, 'event.check.restored', paths=', '.join(step.restored))}"


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.1f}"
