"""The findings that mechanical fixers may work on in a run."""

from __future__ import annotations

from collections.abc import Iterable

from bot.model import StyleFindings
from bot.rules.patches.style_findings import style_findings
from bot.rules.runs.changes import HISTORY
from bot.rules.runs.state import RunState


def fixable_findings(state: RunState) -> StyleFindings:
    """The lint and format findings of the present tree, in files that another agent has changed in this run or that
    had such findings before any change. Of the latter only those that the task names, if it names any.

    Empty where fixers had their turn and nothing has changed since."""
    standing = (made for made in reversed(state.made) if made.agent != HISTORY or not made.undone)
    last = next(standing, None)
    if last is not None and last.mechanical:
        return StyleFindings()
    found = style_findings(state.standing)
    on_base = frozenset(style_findings(state.baseline).files)
    allowed = {*(on_base.intersection(state.focus) if state.focus else on_base), *state.changed_paths}
    return StyleFindings(lint=_within(found.lint, allowed), unformatted=_within(found.unformatted, allowed))


def _within(paths: Iterable[str], allowed: set[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if path in allowed)
