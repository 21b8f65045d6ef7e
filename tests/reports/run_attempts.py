"""Gives a told run its attempts, from a state as the run's events would make it."""

from __future__ import annotations

from bot.model import Repo, RunView, Validation
from bot.reports.locale.reasons import english
from bot.rules.runs.changes import AttemptChange
from bot.rules.runs.run_metadata import attempts, run_metadata
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState
from bot.rules.stop import trajectory

PATHS = ("shop/cart.py", "tests/test_cart.py")
Try = tuple[str, Validation, tuple[str, ...]]
"""An attempt's agent, how its checks ended and the errors they showed."""


def lived(view: RunView, *tries: Try, base: tuple[str, ...], attempt: int = 0) -> RunView:
    """The run after these attempts, told from a state as its events would make it; `attempt` may count further ones
    that came to no change."""
    states = [
        trajectory.TrajectoryState(snapshot="t0", stage=2, fingerprints=frozenset(base), patch_hash="", passed=False)
    ]
    made = []
    for at, (agent, outcome, errors) in enumerate(tries, 1):
        stage = next((index for index, step in enumerate(outcome.steps) if not step.passed and not step.skipped), 3)
        states.append(
            trajectory.TrajectoryState(
                snapshot=f"t{at}",
                stage=stage,
                fingerprints=frozenset(errors),
                patch_hash=f"{at}" * 64,
                passed=outcome.passed,
                flaky=any(step.flaky for step in outcome.steps),
            )
        )
        made.append(AttemptChange(at, agent, f"t{at - 1}", f"t{at}", f"{at}" * 64, PATHS, ()))
    state = RunState(
        base_sha=view.base_sha,
        baseline=view.baseline,
        attempt=attempt or len(tries),
        states=tuple(states),
        iterations=tuple(range(len(states))),
        verdict=trajectory.judge_attempt(states),
        validations=tuple(outcome for _, outcome, _ in tries),
        made=tuple(made),
        stop=view.stop,
        commit_sha=view.commit_sha,
        finished=view.status if view.status.final else None,
        proof=view.proof,
    )
    spec = RunSpec(
        repo=Repo(owner="acme", name="shop", installation_id=1), issues=view.issues, agents=("fixers", "command")
    )
    tried = attempts(state)
    details = english(view.stop.details) if view.stop else ""
    return view.model_copy(
        update={
            "attempt": state.attempt,
            "agents": state.agents,
            "validations": state.validations,
            "attempts": tried,
            "error_delta": next((one.error_delta for one in reversed(tried) if one.error_delta), None),
            "metadata": run_metadata(view.run_id, spec, state, details) if state.finished else None,
        }
    )
