"""What the workflow records of an attempt that asks for several changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.model import Phase
from bot.rules.runs.next_action import Choose, Propose
from bot.rules.runs.state import RunState
from tests.run_events import run_event

Drafted = tuple[str, tuple[str, Phase | None, int | None, dict[str, Any]]]
_PHASE = Phase.IMPLEMENTATION


def wanted(attempt: int, count: int, agents: Sequence[str]) -> Drafted:
    data = {"wanted": count, "agents": list(agents)}
    return f"candidates:{attempt}", ("candidates_wanted", _PHASE, attempt, data)


def proposal(action: Propose, fate: str, changed: Sequence[str], lines: int = 1) -> list[Drafted]:
    """The agent's change, or `none`, or a refusal by its code."""
    number, attempt = action.candidate, action.attempt
    if fate != "applied":
        data = {"candidate": number, "agent": "command", "reason": "no", "refused": "" if fate == "none" else fate}
        return [(f"candidate_failed:{attempt}:{number}", ("candidate_failed", _PHASE, attempt, data))]
    change = {
        "snapshot": f"t{attempt}-{number}",
        "paths": ["a.py"],
        "allPaths": sorted({*changed, "a.py"}),
        "agent": "command",
        "patchHash": f"h{attempt}-{number}",
        "ref": "",
        "lines": lines,
    }
    return of_candidate(attempt, number, [("changes", ("changes_applied", _PHASE, attempt, change))])


def of_candidate(attempt: int, number: int, drafts: Sequence[Drafted]) -> list[Drafted]:
    """The events as those of that candidate."""
    found = []
    for key, (kind, phase, iteration, data) in drafts:
        inner = run_event(kind, phase, iteration, **data)
        whole = ("candidate_event", _PHASE, attempt, {"candidate": number, "event": inner})
        found.append((f"candidate:{attempt}:{number}:{key}", whole))
    return found


def choice(action: Choose, state: RunState) -> list[Drafted]:
    """The result, with the winner's events as those of the attempt."""
    tournament, attempt = state.tournament, action.attempt
    assert tournament is not None
    winner = tournament.winner()
    results = [one.model_dump(mode="json", by_alias=True) for one in tournament.results()]
    data = {"winner": winner.number if winner else None, "results": results}
    chosen = (f"chosen:{attempt}", ("candidate_chosen", _PHASE, attempt, data))
    if winner is None:
        refused = [each.failure.refused for each in tournament.candidates if each.failure and each.failure.refused]
        ended = {"reason": refused[-1] if refused else "nothing_to_offer", "message": "no"}
        return [chosen, (f"implementation_done:{attempt}", ("phase_failed", _PHASE, attempt, ended))]
    again = [(event.key, (event.type, event.phase, event.iteration, event.data())) for event in winner.events]
    return [chosen, *again]
