"""The stop certificate: a run's end as data that a program can check, made of the run's events and its order alone.

    {"version": 1, "run": "run-…", "repo": "owner/name" or null, "issues": [7], "decision": "fixed", "shown": true,
     "reason": "passed", "details": "", "base": sha or null, "commit": sha or null, "best_attempt": 2,
     "most_attempts": 3, "attempts_left_out": 0,
     "attempts": [{"attempt": 1, "agent": "command", "patch": hash, "before": [fingerprint], "before_count": 1,
     "after": [fingerprint], "after_count": 1, "fixed": 0, "remaining": 1, "introduced": 0,
     "result": "failed", "flaky": false, "durationMs": 84}]}

`decision` is `fixed`, `unproven` (the checks pass, and none had shown the fault), `needs-human` or `cancelled`;
only the first two have `shown`. What `fixers` and `history` did does not count against
`most_attempts`.

`result` is `passed`, `failed`, `not_checked` (the run ended while the checks ran) or `not_applied` (there was no
change). `before` and `after` are the errors that were open before and
after the attempt, each as the first 12 hexadecimal digits of the SHA-256 of its normalised text in UTF-8, sorted: no
word of a log is in it. An error that an earlier check hides stays open, and so does one that went away by luck.
`patch` tells changes apart within one repository. `durationMs` is what the checks took.

To check one:
1. `attempts` count upwards by one and end with the last; of more than 50 the first `attempts_left_out` are not told.
2. Only attempts that passed or failed have `before` and `after`; `before` is null where nothing was checked before.
3. `remaining + introduced == after_count`, and where `before` is no null, `fixed + remaining == before_count`. Where
   a list is whole (as long as its count), the three are the sizes of `before - after`, `before & after`,
   `after - before`; with `before` null, all of `after` remains.
4. What one attempt leaves is what the next one of rule 2 finds: its `before` is that `after`.
5. An attempt that passed leaves nothing open unless it is `flaky`, or changed nothing.
6. Where the decision is `fixed` or `unproven`, the last attempt of rule 2, if any, passed. `best_attempt` is 0 where
   none came further than the base, null where nothing was checked."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from bot.model import ErrorDelta, Status
from bot.model.report_views import Attempt
from bot.rules.runs.changes import AttemptChange
from bot.rules.runs.proof import proof_of
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState
from bot.rules.stop import trajectory

__all__ = ["MAX_ATTEMPTS", "MAX_FINGERPRINTS", "attempts", "certificate"]

VERSION = 1
MAX_ATTEMPTS = 50
MAX_FINGERPRINTS = 50
_ALL_FINGERPRINTS = 1_000
"""In one certificate, so that it fits a comment beside everything else."""

_DIGITS = 12
_DETAILS_CHARS = 500
_DECISIONS = {Status.SUCCESS: "fixed", Status.FAILED: "needs-human", Status.CANCELLED: "cancelled"}


def certificate(run_id: str, spec: RunSpec, state: RunState, details: str = "") -> dict[str, Any]:
    """The certificate of a run that is over, fit for JSON. `details` are those of its stop reason in English, masked.

    Raises ValueError where the state has no final status."""
    if state.finished is None or not state.finished.final:
        raise ValueError(f"run {run_id} is not over")
    unshown = state.finished is Status.SUCCESS and proof_of(spec, state) != "shown"
    tried = attempts(state)
    shown = tried[-MAX_ATTEMPTS:]
    most = min(MAX_FINGERPRINTS, _ALL_FINGERPRINTS // (2 * max(len(shown), 1)))
    return {
        "version": VERSION,
        "run": run_id,
        "repo": spec.repo.full_name if spec.repo else None,
        "issues": [issue.number for issue in spec.issues],
        "decision": "unproven" if unshown else _DECISIONS[state.finished],
        **({"shown": not unshown} if state.finished is Status.SUCCESS else {}),
        "reason": state.stop.reason if state.stop else "passed",
        "details": _short(details),
        "base": state.base_sha,
        "commit": state.commit_sha,
        "best_attempt": state.best_attempt,
        "most_attempts": spec.most_attempts,
        "attempts_left_out": len(tried) - len(shown),
        "attempts": [_account(one, most) for one in shown],
    }


def attempts(state: RunState) -> tuple[Attempt, ...]:
    """Every attempt of the run that is over, in order, with what it did to the errors that were open."""
    last = state.attempt if state.attempt_over or state.finished else state.attempt - 1
    made = {one.attempt: one for one in state.made}
    checked = {number: at for at, number in enumerate(state.iterations) if number}
    outcomes = dict(zip((number for number in state.iterations if number), state.validations, strict=True))
    told = []
    for number in range(1, last + 1):
        one = Attempt(attempt=number, result="not_checked" if number in made else "not_applied", **_made(made, number))
        if number in checked:
            seen = trajectory.judge_attempt(state.states[: checked[number] + 1])
            outcome = outcomes[number]
            update = {
                "result": "passed" if outcome.passed else "failed",
                "flaky": state.states[checked[number]].flaky,
                "moved": ErrorDelta(fixed=seen.fixed, remaining=seen.remaining, introduced=seen.introduced),
                "compared": checked[number] > 0,
                "validation": outcome,
            }
            one = one.model_copy(update=update)
        told.append(one)
    return tuple(told)


def _made(made: dict[int, AttemptChange], number: int) -> dict[str, Any]:
    change = made.get(number)
    return {"agent": change.agent, "patch": change.patch_hash, "paths": change.paths} if change else {}


def _account(one: Attempt, most: int) -> dict[str, Any]:
    moved = one.moved or ErrorDelta()
    before = _hashes((*moved.fixed, *moved.remaining)) if one.moved and one.compared else None
    after = _hashes((*moved.remaining, *moved.introduced)) if one.moved else None
    return {
        "attempt": one.attempt,
        "agent": one.agent or None,
        "patch": one.patch or None,
        "before": before[:most] if before is not None else None,
        "before_count": len(before or ()),
        "after": after[:most] if after is not None else None,
        "after_count": len(after or ()),
        "fixed": len(moved.fixed),
        "remaining": len(moved.remaining),
        "introduced": len(moved.introduced),
        "result": one.result,
        "flaky": one.flaky,
        "durationMs": one.duration_ms,
    }


def _hashes(errors: Iterable[str]) -> list[str]:
    return sorted(sha256(error.encode("utf-8", "replace")).hexdigest()[:_DIGITS] for error in errors)


def _short(details: str) -> str:
    return details if len(details) <= _DETAILS_CHARS else details[: _DETAILS_CHARS - 1] + "…"
