"""A run's events as lines for a terminal, as they happen: for the demo and for `mendbot fix`."""

from __future__ import annotations

import re
from datetime import datetime

from bot.model.events.phases import ImplementationFailed, PackagingCompleted, PlanningStarted
from bot.model.events.runs import (
    AgentStarted,
    AttemptStarted,
    ChangesApplied,
    CheckEnded,
    RunEvent,
    SessionFinished,
    SetupCompleted,
    SetupFailed,
    SetupStarted,
)
from bot.reports.format.truncate import one_line
from bot.reports.locale.reasons import english
from bot.reports.runs.failures import headline
from bot.reports.runs.validation import hindrance

_LAST_LINE = 80
"""Characters of a check's last line of output, where most tools sum up."""
_MAKES_OWN = re.compile(r"g?make(?:\[\d+\])?: ")
"""Begins what make says of itself, such as `Leaving directory`: below the line with which the tool sums up."""
_WIDTH = 500
_LOOKED_FOR = ": looked for "
_INDENT = "  "
"""Before what happens within an attempt."""


def event_line(event: RunEvent, *, since: datetime | None = None) -> str | None:
    """An event as one line; None for those that would only repeat another. `since` is when the agent was asked whose
    answer the event records, for how long that took."""
    line = _line(event)
    if line is not None and since is not None and isinstance(event, ChangesApplied | ImplementationFailed):
        line += f" ({(event.ts - since).total_seconds():.1f} s)"
    return None if line is None else _INDENT * line.startswith(_INDENT) + one_line(line, _WIDTH)


def _line(event: RunEvent) -> str | None:
    match event:
        case PlanningStarted():
            where = f"worktree on branch {event.branch}" if event.branch else "works in the tree itself"
            return f"{where}; sandbox: {event.sandbox}"
        case SetupStarted():
            return f"setup: {event.command}"
        case SetupCompleted():
            return f"setup done in {event.duration_ms / 1000:.1f} s"
        case SetupFailed():
            return f"setup failed: {english(event.details)}"
        case AttemptStarted():
            return f"attempt {event.attempt} of {event.of}"
        case AgentStarted():
            return f"  asks the agent `{event.agent}`"
        case ChangesApplied():
            return f"  {event.agent} changed {', '.join(event.paths)}"
        case ImplementationFailed():
            return f"  no change taken: {english(event.message)}"
        case CheckEnded():
            return _check(event)
        case PackagingCompleted():
            return _packaged(event)
        case SessionFinished():
            stop = event.stop
            shown = ", but nothing showed the fault before the change" if event.shown is False else ""
            return f"finished: {event.status}{shown}" + (f" ({stop.reason}: {english(stop.details)})" if stop else "")
        case _:
            return None


def _packaged(event: PackagingCompleted) -> str:
    if event.commit is None:
        return "offers the change as a diff"
    if event.pull is not None:
        return f"pushed {event.commit[:10]} and opened pull request #{event.pull.number}"
    return f"pushed {event.commit[:10]} to the branch"


def _last_line(output: str) -> str:
    """What the tool said last; make's own last line only where there is no other."""
    lines = [text.strip() for text in output.splitlines() if text.strip()]
    tools = (line for line in reversed(lines) if not _MAKES_OWN.match(line))
    return next(tools, lines[-1] if lines else "")


def _check(event: CheckEnded) -> str:
    step = event.step
    where = "before any change" if event.iteration == 0 else f"attempt {event.attempt or event.iteration}"
    if step.skipped and step.could_not_run is not None:
        return f"  {step.stage}: could not run: {hindrance(step.could_not_run, 'en')}"
    if step.skipped:
        why, _, _ = step.output.partition(_LOOKED_FOR)  # where it was looked for stands in the artifact
        return f"  {step.stage}: skipped, {why}"
    if step.tolerated:
        return f"  – {step.stage} ({where}): fails with nothing that this run is to fix"
    mark = "✓" if step.passed else "✗"
    line = f"  {mark} {step.stage} ({where}, {step.duration_ms / 1000:.1f} s)"
    message = headline(step.failures[0]) if step.failures else ""
    last = message or _last_line(step.output)[:_LAST_LINE]
    summary = f": {last}" if last else ""
    altered = f"; restored what it changed: {', '.join(step.restored)}" if step.restored else ""
    if step.passed:
        return f"{line}{summary}{altered}"
    how = "could not run" if step.could_not_run else f"classified `{event.classification}`"
    return f"{line}: {how}{summary}{altered}"
