"""The verbs that start and stop work. What they start tells of itself in its own comment and check runs, so that the
reaction is answer enough; only a refusal has words."""

from __future__ import annotations

from hashlib import sha256

from bot.agent.given import read_given
from bot.errors import UserError
from bot.model import Status
from bot.reports.replies import refused_reply
from bot.rules.patches import check_proposed
from bot.rules.pull_wanted import PullFacts, trust
from bot.rules.run_spec import RunSpec
from bot.workflows.commands.fitness import carries, misfit
from bot.workflows.commands.orders import Ask, Said, refused
from bot.workflows.context import Context
from bot.workflows.policies import policy_of
from bot.workflows.pulls.buttons import failed_checks
from bot.workflows.pulls.fix import Answer, allowed, run_spec, start_fix, start_run
from bot.workflows.pulls.look import check_again, with_trust
from bot.workflows.pulls.start import stop_checks
from bot.workflows.stopping import make_candidate, stop_work

GIVEN = "given"
"""The agent whose one change a person gave."""


def _answered(ask: Ask, answer: Answer) -> Said:
    if answer.run_id is not None:
        return Said(True)
    return Said(False, refused_reply(ask.command, answer.words(ask.language), ask.language))


async def fix(context: Context, ask: Ask) -> Said:
    """On a pull request: mend what is new. On an issue: as if somebody had put the label."""
    most = ask.command.options.get("max")
    if ask.order.is_pull:
        answer = await start_fix(context, ask.repo, ask.number, by=ask.by, max_attempts=int(most) if most else None)
        return _answered(ask, answer)
    return await _start_issue(context, ask)


async def retry(context: Context, ask: Ask) -> Said:
    """The last run once more, from the start: for all its issues that are still wanted."""
    rows = await context.stores.runs.of_thread(ask.repo, ask.number, most=1)
    if not rows:
        return refused(ask, "no_run")
    if rows[0].status is Status.SUCCESS:
        return refused(ask, "last_succeeded")
    said = await fix(context, ask)
    if said.done and not ask.order.is_pull:
        for issue in rows[0].spec.issues:
            if issue.number != ask.number and await _still_wanted(context, ask, issue.number):
                await _let_wait(context, ask, issue.number)
    return said


async def _still_wanted(context: Context, ask: Ask, number: int) -> bool:
    if await context.stores.runs.open_run(ask.repo, number) is not None:
        return False
    issue = await context.github.repository(ask.repo).issue(number)
    return carries(issue, ask.policy.trigger_label) and await misfit(context, ask, number) is None


async def _start_issue(context: Context, ask: Ask) -> Said:
    repo, number, policy = ask.repo, ask.number, ask.policy
    if await context.stores.runs.open_run(repo, number) is not None:
        return refused(ask, "issue_taken", number=number)
    refusal = await misfit(context, ask, number)
    if refusal is not None:
        return refusal
    await context.github.repository(repo).add_labels(number, [policy.trigger_label])
    most = ask.command.options.get("max")
    if most is None:
        await _let_wait(context, ask, number)
        return Said(True)
    agents = policy.agents if policy.agents is not None else context.settings.agents
    spec = (await _issue_spec(context, ask)).model_copy(update={"agents": agents, "max_attempts": int(most)})
    return _answered(ask, await start_run(context, spec))


async def _let_wait(context: Context, ask: Ask, number: int) -> None:
    because = f"{ask.by} said /mendbot {ask.command.verb}"
    await make_candidate(context, ask.repo, number, because=because, quiet_ms=0, since=ask.order.at)


async def check(context: Context, ask: Ask) -> Said:
    """Check the head now, whatever drafts, paths or a pause say; all checks, or those named."""
    return await _check(context, ask, ask.command.args)


async def retest(context: Context, ask: Ask) -> Said:
    """Run again what failed, or all, or the checks named; what the others came to stands."""
    args = ask.command.args
    if "all" in args:
        return await _check(context, ask, ())
    if args:
        return await _check(context, ask, args)
    pull = await context.github.repository(ask.repo).pull(ask.number)
    failed = await failed_checks(context, ask.repo, ask.number, pull.head_sha)
    if not failed and await context.stores.pulls.latest_of(ask.repo, ask.number, pull.head_sha) is not None:
        return refused(ask, "nothing_failed")
    return await _check(context, ask, failed)


async def _check(context: Context, ask: Ask, only: tuple[str, ...]) -> Said:
    repo, number = ask.repo, ask.number
    pull = await context.github.repository(repo).pull(number)
    if pull.state != "open":
        return refused(ask, "pull_closed")
    login = (await context.github.app_identity()).login
    found = trust(pull, await with_trust(context, repo, pull, PullFacts(login, repo.full_name)))
    if found.standing != "wanted":
        return refused(ask, "no_box" if context.sandbox.trusted_only else "awaiting", sha=pull.head_sha[:12])
    if await context.stores.pulls.open_of(repo, number):
        return refused(ask, "being_checked", sha=pull.head_sha[:12])
    await check_again(context, repo, number, pull.head_sha, f"{ask.by} said /mendbot {ask.command.verb}", only)
    return Said(True)


async def cancel(context: Context, ask: Ask) -> Said:
    """Stop what runs or waits for this thread."""
    repo, number = ask.repo, ask.number
    because = f"{ask.by} said /mendbot cancel"
    waited = (await context.stores.candidates.waiting(repo, number))[0]
    row = await stop_work(context, repo, number, because, ask.policy)
    stopped = await stop_checks(context, repo, number, f"cancelled: {ask.by}") if ask.order.is_pull else 0
    if row is None and not waited and not stopped:
        return refused(ask, "nothing_to_stop")
    return Said(True)


async def apply(context: Context, ask: Ask) -> Said:
    """Try the diff in the comment as a run's only change: on the issue's own branch, or on the pull request's head."""
    diff = ask.command.block or ""
    policy, _ = await policy_of(context, ask.repo)
    wrong = check_proposed(read_given(diff), policy.protected_paths)
    if wrong is not None:
        raise UserError(wrong.message)
    if ask.order.is_pull:
        pull, policy, refused_by = await allowed(context, ask.repo, ask.number)
        if refused_by is not None:
            return _answered(ask, refused_by)
        spec = run_spec(context, ask.repo, pull, policy, goal=f"Apply the change that {ask.by} gave.")
    else:
        if await context.stores.runs.open_run(ask.repo, ask.number) is not None:
            return refused(ask, "cancel_first", number=ask.number)
        unfit = await misfit(context, ask, ask.number)
        if unfit is not None:
            return unfit
        spec = await _issue_spec(context, ask)
        spec = spec.model_copy(update={"key": f"given-{spec.key}"})
    more = {"given": diff, "agents": (GIVEN,), "max_attempts": 1, "baseline": False}
    return _answered(ask, await start_run(context, spec.model_copy(update=more)))


async def _issue_spec(context: Context, ask: Ask) -> RunSpec:
    """The order of a run for this issue alone."""
    policy, base = await policy_of(context, ask.repo)
    issue = await context.github.repository(ask.repo).issue(ask.number)
    safe = issue.model_copy(update={"title": context.mask(issue.title), "body": context.mask(issue.body)})
    return RunSpec(
        repo=ask.repo,
        issues=(safe,),
        key=sha256(safe.title.encode()).hexdigest()[:8],
        suggested_branch=f"fix/issue-{ask.number}",
        policy=policy,
        base_branch=base,
        agents=(GIVEN,),
    )
