"""Whether a run asks an agent for a failing test before it asks for the fix (REQ-PROOF-001)."""

from __future__ import annotations

from bot.rules.runs.changes import FREE
from bot.rules.runs.pipeline import runs_tests
from bot.rules.runs.proof import tests_were_green
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState

MAX_REPRODUCTION_ATTEMPTS = 2
"""Times that the agents are asked for a failing test."""


def asks_for_test(spec: RunSpec, state: RunState) -> bool:
    """Whether a failing test is asked for now: all tests pass before any change, a check runs some, and an agent
    can write one. A change that a person gave, and the fix of a pull request, need none."""
    if state.reproduction_over or state.attempt or spec.given or spec.pull is not None:
        return False
    if not tests_were_green(state):
        return False
    writes = any(agent.partition(":")[0] not in FREE for agent in spec.agents)
    return writes and any(runs_tests(stage) for stage in state.stages)
