"""Reads the error history before an attempt, records after it whether the guidance helped, and records what a run has
proven (REQ-RA-311). Nothing learned in one repository is shown in another."""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent.replay import changed_lines, patch_hash
from bot.logs import get_logger
from bot.model import KnownError, Resolution, Status
from bot.model.reasons import Reason
from bot.rules.history.guidance_trial import is_withheld
from bot.rules.reasons import make_reason
from bot.rules.runs.changes import EarlierUse, earlier_use, refusal_of
from bot.rules.runs.proven_resolutions import ProvenResolution
from bot.rules.runs.state import RunState
from bot.rules.runs.validation_outcome import not_made_here
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workspace.git.command import GitError
from bot.workspace.git.diff import changed, diff

MAX_KNOWN_ERRORS = 5
_FILES_ASKED = 5
_PATHS_NAMED = 10
_ERRORS_LEARNED = 50
"""Of one proven resolution; where a change resolves more errors, the first of them are enough."""

log = get_logger()


def change_hash(row: RunRow, patch: str) -> str:
    """A hash of a change: its files and its added and removed lines, without their context. The place is part of it,
    since a change that did not help in one repository may help in another."""
    return place_hash(row.spec.place, patch)


def place_hash(place: str, patch: str) -> str:
    """The same, for a change of that place that no run of ours made."""
    return patch_hash(f"{place}\0{changed_lines(patch)}")


async def guidance(context: Context, row: RunRow, state: RunState) -> tuple[KnownError, ...]:
    """What the history knows of the errors that fail now, then of the files that the task names; at most five."""
    history, place = context.stores.history, row.spec.place
    # errors that occur in most failures would be shown each time without helping
    generic = await context.stores.outcomes.generic(place, state.failing) if state.failing else frozenset()
    failing = [error for error in state.failing if error not in generic]
    check = next((step.stage for step in state.standing.steps if not step.passed), None) if state.standing else None
    found = list(await history.by_errors(failing, place, MAX_KNOWN_ERRORS, check)) if failing else []
    for path in state.focus[:_FILES_ASKED]:
        found += await history.by_file(path, repo=place)
    unique = {known.id: known for known in reversed(found)}
    return tuple(sorted(unique.values(), key=found.index))[:MAX_KNOWN_ERRORS]


async def judge_guidance(context: Context, state: RunState, *, passed: bool) -> None:
    """Note whether the attempt that was shown guidance passed: what does not help loses weight."""
    if state.briefed:
        await context.stores.history.followed(state.briefed, passed=passed)


async def record_trial(context: Context, row: RunRow, state: RunState, status: Status) -> None:
    """Record whether the run passed, for the trial of guidance. Runs that were cancelled say nothing, and neither do
    those for which no coding agent got guidance that is on trial."""
    if row.spec.policy.guidance_trial and state.tried_guidance and status is not Status.CANCELLED:
        passed = status is Status.SUCCESS
        trials = context.stores.trials
        await trials.record(row.id, row.spec.place, state.tried_guidance, withheld=is_withheld(row.id), passed=passed)


async def record_dead_ends(context: Context, state: RunState, fingerprints: Sequence[str]) -> None:
    """A change after which an error is still there is a dead end for that error. What an attempt of the run itself made
    is no error of the repository's, so nothing is remembered of it."""
    before = state.states[-1].fingerprints if state.states else frozenset()
    survived = sorted(not_made_here(state, len(state.steps), before.intersection(fingerprints)))
    for own in {state.made[-1].patch_hash, state.made[-1].replays} - {None} if state.made else ():
        await context.stores.history.dead_end(survived, str(own))


async def learn_from_run(context: Context, row: RunRow, state: RunState) -> None:
    """Record what the run has proven. Done again after a crash it is the same record.

    Where git no longer has the trees (a session's are gone once its end was begun, a mirror may be damaged) nothing is
    learned: a run must come to its end all the same."""
    git_dir = context.git_dir(row.id, row.spec)
    if not git_dir.is_dir():
        return
    # an error that came back and was fixed again: what fixed it last counts
    latest = {text: proven for proven in state.learned for text in proven.fingerprints[:_ERRORS_LEARNED]}
    generic = await context.stores.outcomes.generic(row.spec.place, tuple(latest)) if latest else frozenset()
    for proven in state.learned:
        try:
            patch = await diff(git_dir, proven.before, proven.after)
            paths = tuple(one.path for one in await changed(git_dir, proven.before, proven.after))
        except GitError as error:
            log.warning("resolution_lost", run=row.id, attempt=proven.attempt, because=str(error))
            continue
        if not patch or context.holds_secret(patch):
            continue
        resolution = _resolution(row, state, proven, patch, paths[:_PATHS_NAMED])
        for text in (text for text, last in latest.items() if last is proven and text not in generic):
            raw = context.mask(state.printed.get(text, ""))
            await context.stores.history.record(text, resolution, paths=paths[:_PATHS_NAMED], raw=raw)


def _resolution(row: RunRow, state: RunState, proven: ProvenResolution, patch: str, paths: Sequence[str]) -> Resolution:
    steps = proven.tools or tuple(f"Edit {path}" for path in paths)
    return Resolution(
        resolved_by=row.spec.given_by or "mendbot[bot]",
        author=row.spec.given_by or None,
        tool=proven.agent,
        tool_sequence=(*steps, proven.command),
        repo=row.spec.place,
        commit=state.commit_sha,
        pull_request=state.pull.number if state.pull else None,
        run_id=row.id,
        attempt=proven.attempt,
        diff_hash=change_hash(row, patch),
        patch=patch,
        check=proven.stage,
        proof=state.proof.level if state.proof else "unproven",
    )


async def tried_before(context: Context, row: RunRow, state: RunState, patch: str) -> Reason | None:
    """Why a change need not be tried: this run or an earlier one tried it against the very errors that fail now."""
    own = change_hash(row, patch)
    use = earlier_use(state.made, own)
    if use is EarlierUse.IN_TREE:
        return None
    if use is EarlierUse.UNDONE:
        refusal = refusal_of(state.made, own)
        return make_reason("tried.run") if refusal is None else make_reason("tried.refused", why=refusal)
    if state.failing and own in await context.stores.history.dead_ends(state.failing):
        return make_reason("tried.help")
    return None
