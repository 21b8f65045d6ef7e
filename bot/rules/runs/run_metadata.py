"""The run metadata: how a run ended, as data that a program can check. It is made of the run's events and its request.

    {"version": 1, "run": "run-…", "repo": "owner/name" or null, "issues": [7], "decision": "fixed", "shown": true,
     "proof": {"level": "proven", "because": "errors_gone", "before": "red", …} (left out without a change that passes),
     "reason": "passed", "details": "", "base": sha or null, "commit": sha or null, "best_attempt": 2,
     "most_attempts": 3, "attempts_left_out": 0,
     "attempts": [{"attempt": 1, "agent": "command", "patch": hash, "before": [fingerprint], "before_count": 1,
     "after": [fingerprint], "after_count": 1, "fixed": 0, "remaining": 1, "introduced": 0,
     "result": "failed", "flaky": false, "durationMs": 84}]}

`decision` is `fixed` (the change is proven), `unproven` (the checks pass, and no more is shown), `needs-human` or
`cancelled`; only the first two have `shown`. `proof` is documented in `bot/model/proof.py`. Attempts of `fixers` and
`history` do not count against `most_attempts`.

`result` is `passed`, `failed`, `not_checked` (the run ended while the checks ran) or `not_applied` (there was no
change). `before` and `after` are the errors that were open before and
after the attempt, each as the first 12 hexadecimal digits of the SHA-256 of its normalised text in UTF-8, sorted: they
hold no text of a log. An error that an earlier check hides stays open, and so does one that a flaky check hides.
`patch` is equal for equal changes within one repository. `durationMs` is the time that the checks took.

To check it:
1. `attempts` count upwards by one and end with the last; of more than 50 the first `attempts_left_out` are left out.
2. Only attempts that passed or failed have `before` and `after`; `before` is null where nothing was checked before.
3. `remaining + introduced == after_count`, and where `before` is no null, `fixed + remaining == before_count`. Where
   a list is whole (as long as its count), the three are the sizes of `before - after`, `before & after`,
   `after - before`; with `before` null, all of `after` remains.
4. `before` of an attempt of rule 2 is `after` of the previous one.
5. `after` of an attempt that passed is empty unless it is `flaky`, or changed nothing.
6. Where the decision is `fixed` or `unproven`, the last attempt of rule 2, if any, passed. `best_attempt` is 0 where
   none came further than the base, null where nothing was checked."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final, Literal

from bot.model import ErrorDelta, Status
from bot.model.report_views import Attempt
from bot.model.runs import AttemptMetadata, RunMetadata
from bot.rules.runs.changes import AttemptChange
from bot.rules.runs.proof import is_proven
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState
from bot.rules.stop.trajectory import judge_attempt

MAX_ATTEMPTS = 50
MAX_FINGERPRINTS = 50
_ALL_FINGERPRINTS = 1_000
"""In the metadata of one run, so that it fits a comment beside everything else."""

_DIGITS = 12
_DETAILS_CHARS = 500
_DECISIONS: Final[dict[Status, Literal["fixed", "needs-human", "cancelled"]]] = {
    Status.SUCCESS: "fixed",
    Status.FAILED: "needs-human",
    Status.CANCELLED: "cancelled",
}


def run_metadata(run_id: str, spec: RunSpec, state: RunState, details: str = "") -> RunMetadata:
    """The metadata of a run that is over. `details` are those of its stop reason in English, masked.

    Raises ValueError where the state has no final status."""
    if state.finished is None or not state.finished.final:
        raise ValueError(f"run {run_id} is not over")
    succeeded = state.finished is Status.SUCCESS
    shown = succeeded and is_proven(state)
    every = attempts(state)
    latest = every[-MAX_ATTEMPTS:]
    limit = min(MAX_FINGERPRINTS, _ALL_FINGERPRINTS // (2 * max(len(latest), 1)))
    return RunMetadata(
        run=run_id,
        repo=spec.repo.full_name if spec.repo else None,
        issues=tuple(issue.number for issue in spec.issues),
        decision="unproven" if succeeded and not shown else _DECISIONS[state.finished],
        shown=shown if succeeded else None,
        proof=state.proof,
        reason=state.stop.reason if state.stop else "passed",
        details=_short(details),
        base=state.base_sha,
        commit=state.commit_sha,
        best_attempt=state.best_attempt,
        most_attempts=spec.attempt_limit,
        attempts_left_out=len(every) - len(latest),
        attempts=tuple(_attempt_metadata(attempt, limit) for attempt in latest),
    )


def attempts(state: RunState) -> tuple[Attempt, ...]:
    """Every attempt of the run that is over, in order, with its effect on the errors that were open."""
    last = state.attempt if state.attempt_over or state.finished else state.attempt - 1
    changes = {change.attempt: change for change in state.made}
    checked = {number: index for index, number in enumerate(state.iterations) if number}
    outcomes = dict(zip((number for number in state.iterations if number), state.validations, strict=True))
    every = []
    for number in range(1, last + 1):
        chosen = state.tournaments.get(number)
        known = {"candidates": chosen.results, "winner": chosen.winner} if chosen else {}
        attempt = _unchecked(number, changes.get(number))
        attempt = attempt.model_copy(update={"usage": state.usage_of(number), **known})
        if number in checked:
            verdict = judge_attempt(state.states[: checked[number] + 1])
            outcome = outcomes[number]
            update = {
                "result": "passed" if outcome.passed else "failed",
                "flaky": state.states[checked[number]].flaky,
                "error_delta": ErrorDelta(
                    fixed=verdict.fixed, remaining=verdict.remaining, introduced=verdict.introduced
                ),
                "compared": checked[number] > 0,
                "validation": outcome,
            }
            attempt = attempt.model_copy(update=update)
        every.append(attempt)
    return tuple(every)


def _unchecked(number: int, change: AttemptChange | None) -> Attempt:
    if change is None:
        return Attempt(attempt=number, result="not_applied")
    return Attempt(
        attempt=number, result="not_checked", agent=change.agent, patch=change.patch_hash, paths=change.paths
    )


def _attempt_metadata(attempt: Attempt, limit: int) -> AttemptMetadata:
    delta = attempt.error_delta or ErrorDelta()
    before = _hashes((*delta.fixed, *delta.remaining)) if attempt.error_delta and attempt.compared else None
    after = _hashes((*delta.remaining, *delta.introduced)) if attempt.error_delta else None
    return AttemptMetadata(
        attempt=attempt.attempt,
        agent=attempt.agent or None,
        patch=attempt.patch or None,
        before=before[:limit] if before is not None else None,
        before_count=len(before or ()),
        after=after[:limit] if after is not None else None,
        after_count=len(after or ()),
        fixed=len(delta.fixed),
        remaining=len(delta.remaining),
        introduced=len(delta.introduced),
        result=attempt.result,
        flaky=attempt.flaky,
        duration_ms=attempt.duration_ms,
    )


def _hashes(errors: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(sha256(error.encode("utf-8", "replace")).hexdigest()[:_DIGITS] for error in errors))


def _short(details: str) -> str:
    return details if len(details) <= _DETAILS_CHARS else details[: _DETAILS_CHARS - 1] + "…"
