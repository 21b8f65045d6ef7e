"""Brings Mendbot's work to the state of a pull request on GitHub: its head is checked, awaits approval or is skipped.
Runs for another head are stopped. A repeated call changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.config import Policy
from bot.errors import Stale, UserError
from bot.github.answers import Unauthorized
from bot.logs import get_logger
from bot.model import Repo
from bot.model.pulls import PullRequest
from bot.model.reasons import ExplainedStop, Reason
from bot.rules.pulls.eligibility import Eligibility, EligibilityFacts, judge_eligibility, trust
from bot.rules.reasons import all_reasons, make_reason
from bot.workflows.context import Context
from bot.workflows.history.learn_from_people import forget_heads, learn_from_merge
from bot.workflows.installations.asked_first import is_asked_first
from bot.workflows.kernel import stop_run
from bot.workflows.pulls.await_approval import publish_approved, publish_awaiting
from bot.workflows.pulls.config_check import check_config_of_pull
from bot.workflows.pulls.loop import PULL_CHECK
from bot.workflows.pulls.merge_queue import check_group_again
from bot.workflows.pulls.shared_heads import checks_at, is_withdrawn, not_green, owning_pull_request
from bot.workflows.pulls.skip_by_paths import publish_filtered
from bot.workflows.pulls.start_stop import CheckRequest, get_kept_checks, start_checks, stop_checks
from bot.workflows.repo_config import get_policy
from bot.workflows.runs.request import cancel_run

log = get_logger()


async def sync_pull(context: Context, repo: Repo, number: int) -> Reason:
    """Bring the checks of a pull request to its present state, and those of others that have its previous head. Returns
    the result for this pull request."""
    before = await context.stores.pulls.latest_of(repo, number)
    result, pull = await _sync_one(context, repo, number)
    now = await context.stores.pulls.get(before.id) if before is not None else None
    if now is None or (
        pull is not None and pull.state == "open" and now.spec.head_sha == pull.head_sha and not is_withdrawn(now)
    ):
        return result
    for other in await context.stores.approvals.pulls_of(repo, now.spec.head_sha):
        if other != number:
            await _sync_one(context, repo, other)
    return result


async def _sync_one(context: Context, repo: Repo, number: int) -> tuple[Reason, PullRequest | None]:
    async with context.control.lock(f"pull:{repo.full_name.lower()}#{number}"):
        try:
            pull = await context.github.repository(repo).pull(number)
        except Stale:
            await stop_checks(context, repo, number, ExplainedStop.of("closed", make_reason("pull.gone")))
            return make_reason("pull.gone"), None
        return await _apply_eligibility(context, repo, pull), pull


async def _apply_eligibility(context: Context, repo: Repo, pull: PullRequest) -> Reason:
    policy, _ = await get_policy(context, repo)
    await _record_head(context, repo, pull)
    moved = make_reason("stop.superseded", sha=pull.head_sha[:12])
    await stop_checks(context, repo, pull.number, ExplainedStop.of("superseded", moved), but=pull.head_sha)
    await _stop_fix(context, repo, pull, moved)
    found = await get_eligibility(context, repo, pull, policy)
    match found.standing:
        case "closed":
            await stop_checks(context, repo, pull.number, ExplainedStop.of("closed", found.because))
            await (learn_from_merge(context, repo, pull) if pull.merged else forget_heads(context, repo, pull.number))
        case "unwanted" | "own":
            await stop_checks(context, repo, pull.number, ExplainedStop.of("withdrawn", found.because), asked=False)
        case "filtered":
            await stop_checks(context, repo, pull.number, ExplainedStop.of("withdrawn", found.because), asked=False)
            if not await _is_checked(context, repo, pull):
                await publish_filtered(context, repo, pull, policy)
        case "paused" | "unconfigured":
            pass
        case "awaiting":
            await stop_checks(context, repo, pull.number, ExplainedStop.of("withdrawn", found.because))
            if await owning_pull_request(context, repo, pull.number, pull.head_sha) == pull.number:
                await publish_awaiting(context, repo, pull, policy)
        case "wanted":
            result = await _check_head(context, repo, pull, policy, found)
            await publish_approved(context, repo, pull, policy)
            return result
    return make_reason("checks.eligibility", number=pull.number, why=found.because)


async def _stop_fix(context: Context, repo: Repo, pull: PullRequest, moved: Reason) -> None:
    """Stop a fix that cannot be pushed any more: the request is closed, or somebody else pushed to its branch."""
    row = await context.stores.runs.open_run(repo, pull.number)
    target = row.spec.pull if row is not None else None
    if row is None or target is None:
        return
    if pull.state == "closed":
        await cancel_run(context, row, make_reason("stop.pull_closed", number=pull.number))
        return
    ours = await context.stores.threads.pushed_by(repo, pull.head_sha) is not None  # its own push moves the branch, too
    if target.head_sha != pull.head_sha and not target.from_fork and not ours:
        await cancel_run(context, row, moved)


async def _record_head(context: Context, repo: Repo, pull: PullRequest) -> None:
    """Record the head in GitHub's answer as the newest, whatever its events reported, and in whatever order."""
    approvals = context.stores.approvals
    await approvals.saw_head(repo, pull.number, pull.head_sha, pull.updated_at)
    newest = await approvals.head_known(repo, pull.number)
    if newest is not None and newest[0] != pull.head_sha:
        # two heads of one second: the time at which this one became the head is unknown
        await approvals.saw_head(repo, pull.number, pull.head_sha, None)


async def get_eligibility(context: Context, repo: Repo, pull: PullRequest, policy: Policy) -> Eligibility:
    """The eligibility of the head, with as few requests as possible."""
    threads, login = context.stores.threads, (await context.github.app_identity()).login
    facts = EligibilityFacts(
        app_login=login,
        repository=repo.full_name,
        own=await threads.pushed_by(repo, pull.head_sha) is not None,
        paused_by=await threads.paused(repo, pull.number),
    )
    first = judge_eligibility(pull, policy, facts)
    if first.standing not in ("awaiting", "wanted"):
        return first
    if await is_asked_first(context, repo):
        return judge_eligibility(pull, policy, replace(facts, asked_first=True))
    client = context.github.repository(repo)
    paths = await client.pull_files(pull.number) if policy.pull_requests.paths else None
    return judge_eligibility(pull, policy, await with_trust(context, repo, pull, facts, paths))


async def with_trust(
    context: Context, repo: Repo, pull: PullRequest, facts: EligibilityFacts, paths: Sequence[str] | None = None
) -> EligibilityFacts:
    """The facts with the author's permission and the approvals at this moment (T9: at time of use)."""
    permission = await _permission(context, repo, pull.author) if pull.author else None
    return EligibilityFacts(
        app_login=facts.app_login,
        repository=facts.repository,
        permission=permission,
        approved_by=await context.stores.approvals.approved(repo, pull.number, pull.head_sha),
        own=facts.own,
        paused_by=facts.paused_by,
        paths=paths,
        sandboxed=not context.sandbox.trusted_only,
    )


async def _permission(context: Context, repo: Repo, login: str) -> str | None:
    """None where GitHub refuses to answer: the head then awaits approval."""
    try:
        return await context.github.repository(repo).permission(login)
    except Unauthorized:
        raise  # nothing can be published either: the delivery fails and can be sent again
    except UserError as error:
        log.warning("permission_unknown", repo=repo.full_name, login=login, because=str(error))
        return None


async def _is_checked(context: Context, repo: Repo, pull: PullRequest) -> bool:
    row = await checks_at(context, repo, pull.number, pull.head_sha)
    return row is not None and not is_withdrawn(row)


async def _check_head(context: Context, repo: Repo, pull: PullRequest, policy: Policy, found: Eligibility) -> Reason:
    """Check the head, unless this or another open request has it checked. Checks that passed for another request or
    base branch stay passed; the others run against this base."""
    number, sha = pull.number, pull.head_sha
    async with context.control.lock(f"head:{repo.full_name.lower()}@{sha}"):
        owner = await owning_pull_request(context, repo, number, sha)
        if owner != number:
            return make_reason("checks.already_for", number=number, sha=sha[:12], owner=owner)
        row = await checks_at(context, repo, number, sha)
        order = CheckRequest(found.because)
        if row is not None and not is_withdrawn(row):
            only = await not_green(context, row) if row.spec.base_ref != pull.base_ref else ()
            if not only:
                return make_reason("checks.already", number=number, sha=sha[:12])
            moved = make_reason("pull.retargeted", branch=pull.base_ref)
            await stop_run(context, PULL_CHECK, row, ExplainedStop.of("retargeted", moved))
            order = CheckRequest(found.because, only, await get_kept_checks(context, row, only))
        # before the checks start: a later sync finds them started and does nothing
        await check_config_of_pull(context, repo, pull, policy)
        await start_checks(context, repo, pull, policy, order)
    return make_reason("checks.start", number=number, sha=sha[:12], why=found.because)


async def sync_commit(context: Context, repo: Repo, sha: str, *, again: bool, because: Reason) -> Reason:
    """Sync every open pull request of that head; `again` re-runs all checks of a head that was checked."""
    # a push to a fork does not get here, so all pull requests are searched only for a person who asks
    named = await context.github.repository(repo).pulls_of(sha, forks=again)
    # GitHub names no pull request for a fork's commit, so those that are known to have had it are added
    numbers = sorted({*named, *await context.stores.approvals.pulls_of(repo, sha)})
    results = [await sync_pull(context, repo, number) for number in numbers]
    if again:
        results = [await check_again(context, repo, number, sha, because) for number in numbers]
        in_queue = await check_group_again(context, repo, sha, because)
        results += [in_queue] if in_queue is not None else []
    return all_reasons(results) if results else make_reason("checks.no_pull", sha=sha[:12])


async def check_again(
    context: Context, repo: Repo, number: int, sha: str, because: Reason, only: Sequence[str] = ()
) -> Reason:
    """Re-run all checks of a head, or those in `only`, if it is still the head and its code may run. The results of the
    other checks stay."""
    number = await owning_pull_request(context, repo, number, sha)
    pull = await context.github.repository(repo).pull(number)
    policy, _ = await get_policy(context, repo)
    if pull.head_sha != sha or pull.state != "open":
        return make_reason("checks.not_open_head", sha=sha[:12])
    login = (await context.github.app_identity()).login
    found = trust(pull, await with_trust(context, repo, pull, EligibilityFacts(login, repo.full_name)))
    if found.standing != "wanted":
        return found.because
    latest = await checks_at(context, repo, number, sha)
    kept = await get_kept_checks(context, latest, only) if latest is not None and only else ()
    run_id = await start_checks(context, repo, pull, policy, CheckRequest(because, only, kept, asked=True))
    return make_reason("checks.again" if run_id else "checks.running", sha=sha[:12])
