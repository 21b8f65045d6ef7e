"""The summary of an ended session, from its events and its files in the home."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.model import RunEvent, SessionSummary, Status
from bot.model.events.runs import CheckEnded
from bot.rules.patches.change_size import changed_files
from bot.rules.runs.fold import run_state
from bot.rules.runs.run_metadata import attempts
from bot.store.runs.runs import RunRow
from bot.workflows.runs.local_tree import FOUND
from bot.workspace.checks.logs import directory, read_log


def get_summary(home: Path, row: RunRow, events: Sequence[RunEvent]) -> SessionSummary:
    """The summary of a session; `events` are all of its events."""
    state = run_state(events)
    status = state.finished or row.status
    last, best = state.diff or "", state.best_attempt
    content = read_log(home, row.id, last) if last else None
    earlier = f"attempt-{best}.diff" if best and best != state.attempt and status is not Status.SUCCESS else ""
    where = directory(home.absolute(), row.id)
    checks = [event for event in events if isinstance(event, CheckEnded)]
    return SessionSummary(
        status=status,
        attempt=state.counted,
        most=row.spec.attempt_limit,
        proof=state.proof,
        changed=changed_files(content.decode("utf-8", "replace")) if content and status is Status.SUCCESS else (),
        before=state.baseline,
        after=state.validations[-1] if state.validations else None,
        refused=checks[-1].refused if checks else None,
        stop=state.stop,
        chosen=tuple(attempt for attempt in attempts(state) if attempt.candidates),
        usage=state.usage,
        directory=str(where),
        diff=str(where / last) if content is not None else None,
        best_attempt=best if earlier else None,
        best_diff=str(where / earlier) if earlier and read_log(home, row.id, earlier) is not None else None,
        found=tuple(sorted(map(str, where.glob(FOUND.format("*"))))),
    )
