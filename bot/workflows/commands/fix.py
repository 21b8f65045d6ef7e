"""The verbs that start and stop work. What they start tells of itself in its own comment and check runs, so that the
reaction is answer enough; only a refusal has words."""

from __future__ import annotations

from hashlib import sha256

from bot.agent.apply_comment import parse_comment_patch
from bot.config import Policy
from bot.errors import UserError
from bot.model import Language, Status
from bot.model.reasons import ExplainedStop
from bot.reports.commands.replies import refused_reply
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import reason_text
from bot.rules.patches.change_policy import check_proposed
from bot.rules.pulls.eligibility import EligibilityFacts, trust
from bot.rules.reasons import error_reason, make_reason
from bot.rules.runs.spec import RunSpec
from bot.rules.triage.decisions import carries
from bot.store.runs.runs import RunRow
from bot.workflows.commands.eligibility import misfit
from bot.workflows.commands.idempotency import begin_once, checks_came, run_came
from bot.workflows.commands.pause import checks_told, open_errors
from bot.workflows.commands.types import CommandCall, CommandResult, queued_issue, refused
from bot.workflows.context import Context
from bot.workflows.kernel import stop_run
from bot.workflows.pulls.buttons import failed_checks
from bot.workflows.pulls.loop import PULL_CHECK
from bot.workflows.pulls.shared_heads import checks_at
from bot.workflows.pulls.start_fix import StartResult, allowed, run_spec, start_fix, start_run
from bot.workflows.pulls.sync import check_again, with_trust
from bot.workflows.repo_config import get_policy
from bot.workflows.runs.request import make_candidate, stop_work

GIVEN = "given"
"""The agent whose one change a person gave."""


def _answered(ask: CommandCall, answer: StartResult) -> CommandResult:
    if answer.run_id is not None:
        return CommandResult(True)
    return CommandResult(False, refused_reply(ask.command, answer.words(ask.language), ask.language))


async def fix(context: Context, ask: CommandCall) -> CommandResult:
    """On a pull request: fix what is new. On an issue: as if somebody had put the label."""
    most = ask.command.options.get("max")
    if await run_came(context, ask):
        return CommandResult(True)
    if ask.order.is_pull:
        answer = await start_fix(context, ask.repo, ask.number, by=ask.by, max_attempts=int(most) if most else None)
        return _answered(ask, answer)
    return await _start_issue(context, ask)


async def retry(context: Context, ask: CommandCall) -> CommandResult:
    """The last run once more, from the start: for all its issues that are still wanted."""
    rows = await context.stores.runs.of_thread(ask.repo, ask.number, most=1)
    row = await context.stores.runs.get((await begin_once(context, ask, run=rows[-1].id if rows else ""))["run"])
    if row is None:
        return refused(ask, "no_run")
    if row.status is Status.SUCCESS:
        return refused(ask, "last_succeeded")
    said = await fix(context, ask)
    if said.done and not ask.order.is_pull:
        for issue in row.spec.issues:
            if issue.number != ask.number and await _still_wanted(context, ask, issue.number, row):
                await _let_wait(context, ask, issue.number)
    return said


async def _still_wanted(context: Context, ask: CommandCall, number: int, last: RunRow) -> bool:
    """Whether an issue of that run has nobody who works on it, and had nobody since, and is to be worked on."""
    if await context.stores.runs.latest_of(ask.repo, number) != last.id:
        return False
    issue = await context.github.repository(ask.repo).issue(number)
    return carries(issue.labels, ask.policy.trigger_label) and await misfit(context, ask, number) is None


async def _start_issue(context: Context, ask: CommandCall) -> CommandResult:
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
        return CommandResult(True)
    agents = policy.agents if policy.agents is not None else context.settings.agents
    spec = (await _issue_spec(context, ask)).model_copy(update={"agents": agents, "max_attempts": int(most)})
    return _answered(ask, await start_run(context, spec))


async def _let_wait(context: Context, ask: CommandCall, number: int) -> None:
    await make_candidate(context, queued_issue(ask, number, quiet_ms=0))


async def check(context: Context, ask: CommandCall) -> CommandResult:
    """Check the head now, whatever drafts, paths or a pause say; all checks, or those named."""
    return await _check(context, ask, ask.command.args)


async def retest(context: Context, ask: CommandCall) -> CommandResult:
    """Run again what failed, or all, or the checks named; what the others came to stands."""
    args = ask.command.args
    if await checks_came(context, ask):
        return CommandResult(True)
    if "all" in args:
        return await _check(context, ask, ())
    if args:
        return await _check(context, ask, args)
    pull = await context.github.repository(ask.repo).pull(ask.number)
    failed = await failed_checks(context, ask.repo, ask.number, pull.head_sha)
    if not failed and await context.stores.pulls.latest_of(ask.repo, ask.number, pull.head_sha) is not None:
        return refused(ask, "nothing_failed")
    return await _check(context, ask, failed)


async def _check(context: Context, ask: CommandCall, only: tuple[str, ...]) -> CommandResult:
    repo, number = ask.repo, ask.number
    if await checks_came(context, ask):
        return CommandResult(True)
    pull = await context.github.repository(repo).pull(number)
    if pull.state != "open":
        return refused(ask, "pull_closed")
    login = (await context.github.app_identity()).login
    found = trust(pull, await with_trust(context, repo, pull, EligibilityFacts(login, repo.full_name)))
    if found.standing != "wanted":
        return refused(ask, "no_box" if context.sandbox.trusted_only else "awaiting", sha=pull.head_sha[:12])
    if await context.stores.pulls.open_of(repo, number):
        return refused(ask, "being_checked", sha=pull.head_sha[:12])
    because = make_reason("event.commanded", by=ask.by, command=ask.command.verb)
    await check_again(context, repo, number, pull.head_sha, because, only)
    return CommandResult(True)


async def cancel(context: Context, ask: CommandCall) -> CommandResult:
    """Stop what runs or waits for this thread."""
    repo, number = ask.repo, ask.number
    because = make_reason("stop.said", by=ask.by)
    held, since = await _held(context, ask)
    checks = await context.stores.pulls.open_of(repo, number) if ask.order.is_pull else ()
    seen = {"run": held, "since": since, "checks": [row.id for row in checks if row.cancel_because is None]}
    first = await begin_once(context, ask, **seen)
    if not any(first.values()):
        return refused(ask, "nothing_to_stop")
    if held in ("", first["run"]) and since in ("", first["since"]):  # what came after it is somebody else's wish
        await stop_work(context, repo, number, because, ask.policy)
    for row in checks:
        if row.id in first["checks"]:
            await stop_run(context, PULL_CHECK, row, ExplainedStop.of("cancelled", because))
    return CommandResult(True)


async def _held(context: Context, ask: CommandCall) -> tuple[str, str]:
    """The run that works for the thread, and since when it waits to be grouped; empty where it is not so."""
    found = await context.stores.runs.open_run(ask.repo, ask.number)
    waits, since = await context.stores.candidates.waiting(ask.repo, ask.number)
    return found.id if found is not None else "", str(since) if waits else ""


async def apply(context: Context, ask: CommandCall) -> CommandResult:
    """Try the diff in the comment as a run's only change: on the issue's own branch, or on the pull request's head."""
    diff = ask.command.block or ""
    wrong = _wrong_with(diff, ask.policy, ask.language)
    if wrong is not None:
        return refused(ask, "bad_diff", problem=wrong)
    # what failed here is looked at once more without the change: that it passes with it can be learned (REQ-RA-311)
    failed = bool(await open_errors(context, ask))
    if await run_came(context, ask):
        return CommandResult(True)
    if ask.order.is_pull:
        pull, policy, refused_by = await allowed(context, ask.repo, ask.number)
        if refused_by is not None:
            return _answered(ask, refused_by)
        checked = await checks_at(context, ask.repo, ask.number, pull.head_sha)
        checks = await checks_told(context, checked) if checked is not None else ()
        goal = t("en", "task.apply", by=ask.by)
        spec = run_spec(context, ask.repo, pull, policy, goal=goal, checks=checks)
    else:
        if await context.stores.runs.open_run(ask.repo, ask.number) is not None:
            return refused(ask, "cancel_first", number=ask.number)
        unfit = await misfit(context, ask, ask.number)
        if unfit is not None:
            return unfit
        spec = await _issue_spec(context, ask)
        spec = spec.model_copy(update={"key": f"given-{spec.key}"})
    more = {"given": diff, "given_by": ask.by, "agents": (GIVEN,), "max_attempts": 1, "baseline": failed}
    return _answered(ask, await start_run(context, spec.model_copy(update=more)))


def _wrong_with(diff: str, policy: Policy, language: Language) -> str | None:
    try:
        refusal = check_proposed(parse_comment_patch(diff), policy.protected_paths)
    except UserError as error:
        return reason_text(error_reason(error), language)
    return None if refusal is None else reason_text(refusal.because, language)


async def _issue_spec(context: Context, ask: CommandCall) -> RunSpec:
    """The order of a run for this issue alone."""
    policy, base = await get_policy(context, ask.repo)
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
        asked_by=ask.by,
    )
