"""What people teach: the push after which a check that had failed passes, the pull request that was merged with it or
that closes what a run of ours could not fix, and what a person records with `/mendbot resolved` (REQ-RA-311).

A flaky pass, or a pass at a commit that failed before, teaches nothing. Neither does a push after one of Mendbot's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.errors import MendbotError
from bot.logs import get_logger
from bot.model import Repo, Resolution, Status
from bot.model.pulls import PullRequest
from bot.rules.grouping.references import closes
from bot.rules.pulls.check_state import PullCheckState
from bot.rules.runs.state import RunState
from bot.store.history.outcomes import CheckOutcome
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.context import Context
from bot.workflows.history.learn_from_runs import place_hash
from bot.workflows.tampering import weakened_tests_reason
from bot.workspace.dependencies.cache import DependencyCache, drop_head_entries
from bot.workspace.git.command import GitError
from bot.workspace.git.diff import changed, diff
from bot.workspace.mirror import mirror as mirrors
from bot.workspace.mirror.pull_refs import drop_head, drop_pull

MAX_ERRORS = 50
_PATHS_NAMED = 10

log = get_logger()


async def learn_from_push(context: Context, row: PullCheckRow, state: PullCheckState, index: int) -> None:
    """The check passes on this head and failed on earlier ones of the same pull request: what was pushed since the last
    head that showed an error resolved it."""
    repo, spec, threads = row.spec.repo, row.spec, context.stores.threads
    stage = state.stages[index]
    past = await context.stores.outcomes.of_pull(repo.full_name, spec.number)
    found = unresolved(past, stage.name, row.id, spec.head_sha)
    if not found:
        return
    resolution = Resolution(
        tool="push",
        repo=repo.full_name,
        commit=spec.head_sha,
        pull_request=spec.number,
        run_id=row.id,
        check=stage.name,
    )
    resolution = _by(resolution, await _author(context, repo, spec.head_sha) or spec.author)
    for before, errors in found:
        if not await threads.pushes_since(repo, spec.number, before.at_ms):
            await record_change(
                context, repo, errors, (before.sha, spec.head_sha), resolution, _command(state, stage.name)
            )


def unresolved(
    past: Sequence[CheckOutcome], stage: str, run_id: str, sha: str
) -> tuple[tuple[CheckOutcome, tuple[str, ...]], ...]:
    """What a check showed in the runs before `run_id` and no pass cleared, by the last outcome that showed it. An error
    of the very commit `sha` is none that a change can have resolved."""
    earlier: list[CheckOutcome] = []
    for one in past:
        if one.run_id == run_id:
            break
        if one.stage == stage:
            earlier.append(one)
    last: dict[str, CheckOutcome] = {}
    for one in earlier:
        last = {**last, **dict.fromkeys(one.errors, one)} if one.outcome == "failed" else {}
    here = {error for one in earlier if one.sha == sha for error in one.errors}
    by_run: dict[str, list[str]] = {}
    for error, one in last.items():
        if error not in here:
            by_run.setdefault(one.run_id, []).append(error)
    return tuple((one, tuple(by_run[one.run_id])) for one in earlier if one.run_id in by_run)


async def learn_from_merge(context: Context, repo: Repo, pull: PullRequest) -> None:
    """A pull request was merged: what it taught is found from now on in the commit that the base branch has, also where
    it was squashed, and what runs for the issues that it closes failed with was resolved by it. It is done once."""
    past = await context.stores.outcomes.of_pull(repo.full_name, pull.number)
    mirror = context.mirror(repo)
    # the head is kept until this is done: a merged request that is looked at again has no more to teach
    if mirror.is_dir() and await mirrors.resolve(mirror, f"refs/mendbot/heads/{pull.head_sha}") is not None:
        await _learn_from_closed_issues(context, repo, pull, past)
    if pull.merge_commit_sha is not None:
        await _record_commit(context, repo, pull, pull.merge_commit_sha, past)
    if mirror.is_dir():
        await forget_heads(context, repo, pull.number)


async def forget_heads(context: Context, repo: Repo, number: int) -> None:
    """Drop the refs of every head of a pull request that is closed, and its cached dependencies. Git may then delete
    commits that nothing else references."""
    mirror = context.mirror(repo)
    if not mirror.is_dir():
        return
    for sha in await context.stores.approvals.all_heads(repo, number):
        await drop_head(mirror, sha)
        await drop_head_entries(DependencyCache(context.settings.home / "dependencies", repo.full_name, sha))
    await drop_pull(mirror, number)


async def _record_commit(
    context: Context, repo: Repo, pull: PullRequest, commit: str, past: Sequence[CheckOutcome]
) -> None:
    """Record that commit with every error that this pull request resolved."""
    errors = [error for one in past for error in one.errors]
    run_id = await context.stores.threads.pushed_by(repo, pull.head_sha)
    if run_id is not None:
        learned = (await context.stores.runs.state(run_id)).learned
        errors += [error for proven in learned for error in proven.fingerprints]
    if not errors:
        return
    history = context.stores.history
    found = await history.by_errors(errors, repo=repo.full_name, limit=len(errors))
    own = [one.id for one in found if one.exact and one.resolution.pull_request == pull.number]
    await history.landed(own, commit, repo=repo.full_name)


async def _learn_from_closed_issues(
    context: Context, repo: Repo, pull: PullRequest, past: Sequence[CheckOutcome]
) -> None:
    """Learn where a run for an issue failed and this pull request of a person closes the issue with the same check
    passing."""
    if pull.author.casefold() == (await context.github.app_identity()).login.casefold():
        return
    for number in closes(pull.body, repo.full_name):
        rows = await context.stores.runs.of_thread(repo, number, limit=1)
        if not rows or rows[-1].status is not Status.FAILED:
            continue
        left = unfixed(await context.stores.runs.state(rows[-1].id))
        for stage, errors in left.items():
            at_head = [one for one in past if one.stage == stage and one.sha == pull.head_sha]
            if at_head and at_head[-1].outcome == "passed":
                await _record_merged_fix(context, repo, pull, at_head[-1], errors)


def unfixed(state: RunState) -> Mapping[str, tuple[str, ...]]:
    """What a failed run leaves in the repository, by stage: what its base showed, and what its last attempt showed in a
    stage to which the base never came. Errors that only the attempts made are left out."""
    left: dict[str, tuple[str, ...]] = {}
    on_base = {step.stage for step in state.baseline.steps} if state.baseline else set()
    if state.baseline and not state.baseline.passed and state.states:
        left[state.baseline.steps[-1].stage] = tuple(sorted(state.states[0].fingerprints))
    if state.validations and not state.validations[-1].passed:
        stage = state.validations[-1].steps[-1].stage
        if stage not in on_base:
            left[stage] = state.failing
    return left


async def _record_merged_fix(
    context: Context, repo: Repo, pull: PullRequest, proof: CheckOutcome, errors: Sequence[str]
) -> None:
    state = await context.stores.pulls.state(proof.run_id)
    resolution = Resolution(
        tool="merge",
        repo=repo.full_name,
        commit=pull.merge_commit_sha or pull.head_sha,
        pull_request=pull.number,
        run_id=proof.run_id,
        check=proof.stage,
        merged=True,
    )
    resolution = _by(resolution, await _author(context, repo, pull.head_sha) or pull.author)
    span = (state.base_sha, pull.head_sha)
    await record_change(context, repo, errors, span, resolution, _command(state, proof.stage))


async def record_change(
    context: Context, repo: Repo, errors: Sequence[str], span: tuple[str, str], resolution: Resolution, proof: str
) -> None:
    """Record that what changed between two commits resolved these errors, `proof` being the check that passes since.
    What git no longer has, holds a secret, or takes force from tests and checks, is not recorded."""
    mirror = context.mirror(repo)
    try:
        patch = await diff(mirror, *span)
        paths = tuple(one.path for one in (await changed(mirror, *span))[:_PATHS_NAMED])
        weaker = await weakened_tests_reason(mirror, *span)
    except (GitError, MendbotError) as error:
        log.warning("resolution_lost", repo=repo.full_name, because=str(error))
        return
    if not patch or weaker is not None or context.holds_secret(patch):
        return
    steps = (*(f"Edit {path}" for path in paths), context.mask(proof))
    resolution = resolution.model_copy(
        update={"tool_sequence": steps, "diff_hash": place_hash(repo.full_name, patch), "patch": patch}
    )
    generic = await context.stores.outcomes.generic(repo.full_name, errors)
    for text in [one for one in errors if one and one not in generic][:MAX_ERRORS]:
        await context.stores.history.record(text, resolution, paths=paths)


async def learn_resolved(
    context: Context, repo: Repo, errors: Sequence[str], *, by: str, how: str, key: str | None = None
) -> int:
    """Record a person's text on how these errors were resolved; returns how many were recorded. Recorded again under
    the same `key`, it counts as one use."""
    resolution = _by(Resolution(tool="person", how=how, repo=repo.full_name, run_id=key), by)
    generic = await context.stores.outcomes.generic(repo.full_name, errors)
    recorded = [error for error in dict.fromkeys(errors) if error and error not in generic][:MAX_ERRORS]
    for error in recorded:
        await context.stores.history.record(error, resolution)
    log.info("resolved_by_hand", repo=repo.full_name, errors=len(recorded))
    return len(recorded)


def _by(resolution: Resolution, login: str) -> Resolution:
    return resolution.model_copy(update={"resolved_by": login, "author": login})


def _command(state: PullCheckState, name: str) -> str:
    """What proves it: the command of that check, as it was run."""
    command = next((stage.command for stage in state.stages if stage.name == name), None)
    return command.text if command else name


async def _author(context: Context, repo: Repo, sha: str) -> str | None:
    try:
        return await context.github.repository(repo).commit_author_of(sha)
    except MendbotError as error:
        log.info("author_unknown", repo=repo.full_name, because=str(error))
        return None
