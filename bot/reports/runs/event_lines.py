"""A run's events as lines for a terminal, as they happen: for the demo and for `mendbot fix`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.model import RunEvent, ShownFailure
from bot.reports.format.truncate import one_line
from bot.reports.runs.failures import headline

_LAST_LINE = 80
"""Characters of a check's last line of output, where most tools sum up."""
_MAKES_OWN = re.compile(r"g?make(?:\[\d+\])?: ")
"""Begins what make says of itself, such as `Leaving directory`: below the line with which the tool sums up."""
_WIDTH = 500
_ANSWERS = frozenset({"changes_applied", "phase_failed"})
_LOOKED_FOR = ": looked for "
_INDENT = "  "
"""Before what happens within an attempt."""


def event_line(event: RunEvent, *, since: datetime | None = None) -> str | None:
    """An event as one line; None for those that would only repeat another. `since` is when the agent was asked whose
    answer the event tells of, for how long that took."""
    said = _said(event)
    if said is not None and since is not None and event.type in _ANSWERS and event.phase == "implementation":
        said += f" ({(event.ts - since).total_seconds():.1f} s)"
    return None if said is None else _INDENT * said.startswith(_INDENT) + one_line(said, _WIDTH)


def _said(event: RunEvent) -> str | None:
    data = event.data
    match event.type:
        case "phase_started" if event.phase == "planning":
            where = f"worktree on branch {data['branch']}" if data["branch"] else "works in the tree itself"
            return f"{where}; sandbox: {data['sandbox']}"
        case "setup_started":
            return f"setup: {data['command']}"
        case "setup_completed":
            return f"setup done in {data['durationMs'] / 1000:.1f} s"
        case "setup_failed":
            return f"setup failed: {data['details']}"
        case "attempt_started":
            return f"attempt {data.get('attempt', event.iteration)} of {data['of']}"
        case "agent_started":
            return f"  asks the agent `{data['agent']}`"
        case "changes_applied":
            return f"  {data['agent']} changed {', '.join(data['paths'])}"
        case "phase_failed" if event.phase == "implementation":
            return f"  no change taken: {data['message']}"
        case "validation_command_completed" | "validation_command_failed":
            return _check(event)
        case "phase_completed" if event.phase == "packaging":
            return _packaged(data)
        case "session_finished":
            stop = data.get("stop")
            shown = ", but nothing showed the fault before the change" if data.get("shown") is False else ""
            return f"finished: {data['status']}{shown}" + (f" ({stop['reason']}: {stop['details']})" if stop else "")
        case _:
            return None


def _packaged(data: Mapping[str, Any]) -> str:
    if data.get("pull"):
        return f"pushed {data['commit'][:10]} and opened pull request #{data['pull']['number']}"
    return f"pushed {data['commit'][:10]} to the branch" if data.get("commit") else "offers the change as a diff"


def _last_line(output: str) -> str:
    """What the tool said last; make's own last line only where there is no other."""
    lines = [text.strip() for text in output.splitlines() if text.strip()]
    tools = (line for line in reversed(lines) if not _MAKES_OWN.match(line))
    return next(tools, lines[-1] if lines else "")


def _check(event: RunEvent) -> str:
    step = event.data["step"]
    where = "before any change" if event.iteration == 0 else f"attempt {event.data.get('attempt', event.iteration)}"
    if step["skipped"]:
        why, _, _ = step["output"].partition(_LOOKED_FOR)  # where it was looked for stands in the artifact
        return f"  {step['stage']}: skipped, {why}"
    if step.get("tolerated"):
        return f"  – {step['stage']} ({where}): fails with nothing that this run is to fix"
    mark = "✓" if step["passed"] else "✗"
    line = f"  {mark} {step['stage']} ({where}, {step['durationMs'] / 1000:.1f} s)"
    shown = step.get("failures")
    message = headline(ShownFailure.model_validate(shown[0])) if shown else ""
    last = message or _last_line(step["output"])[:_LAST_LINE]
    said = f": {last}" if last else ""
    # events of before this was noted have neither key
    restored = step.get("restored", ())
    altered = f"; restored what it changed: {', '.join(restored)}" if restored else ""
    if step["passed"]:
        return f"{line}{said}{altered}"
    how = "could not run" if step.get("couldNotRun") else f"classified `{event.classification}`"
    return f"{line}: {how}{said}{altered}"
