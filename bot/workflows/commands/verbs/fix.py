"""`/mendbot fix`: starts a fix. The run has a comment and check runs of its own, so only a refusal is answered."""

from __future__ import annotations

from hashlib import sha256

from bot.reports.commands.replies import refused_reply
from bot.rules.runs.spec import RunSpec
from bot.workflows.commands.eligibility import issue_refusal
from bot.workflows.commands.idempotency import has_new_run
from bot.workflows.commands.types import CommandCall, CommandResult, queued_issue, refused
from bot.workflows.context import Context
from bot.workflows.pulls.start_fix import StartResult, start_fix, start_run
from bot.workflows.repo_config import get_policy
from bot.workflows.runs.request import make_candidate


async def fix(context: Context, call: CommandCall) -> CommandResult:
    """Fix the new failures of a pull request; on an issue, do what the trigger label does."""
    if await has_new_run(context, call):
        return CommandResult(True)
    if call.request.is_pull:
        result = await start_fix(context, call.repo, call.number, by=call.by, max_attempts=_max_attempts(call))
        return start_answer(call, result)
    return await _fix_issue(context, call)


def start_answer(call: CommandCall, result: StartResult) -> CommandResult:
    """The command's result for a run that was started or refused."""
    if result.run_id is not None:
        return CommandResult(True)
    return CommandResult(False, refused_reply(call.command, result.text(call.language), call.language))


def _max_attempts(call: CommandCall) -> int | None:
    option = call.command.options.get("max")
    return int(option) if option else None


async def _fix_issue(context: Context, call: CommandCall) -> CommandResult:
    repo, number, policy = call.repo, call.number, call.policy
    if await context.stores.runs.open_run(repo, number) is not None:
        return refused(call, "issue_taken", number=number)
    refusal = await issue_refusal(context, call, number)
    if refusal is not None:
        return refusal
    await context.github.repository(repo).add_labels(number, [policy.trigger_label])
    max_attempts = _max_attempts(call)
    if max_attempts is None:
        await make_candidate(context, queued_issue(call, number, quiet_ms=0))
        return CommandResult(True)
    spec = await issue_spec(context, call)
    return start_answer(call, await start_run(context, spec.model_copy(update={"max_attempts": max_attempts})))


async def issue_spec(context: Context, call: CommandCall) -> RunSpec:
    """The specification of a run for this issue alone."""
    policy, base = await get_policy(context, call.repo)
    issue = await context.github.repository(call.repo).issue(call.number)
    safe = issue.model_copy(update={"title": context.mask(issue.title), "body": context.mask(issue.body)})
    return RunSpec(
        repo=call.repo,
        issues=(safe,),
        key=sha256(safe.title.encode()).hexdigest()[:8],
        suggested_branch=f"fix/issue-{call.number}",
        policy=policy,
        base_branch=base,
        agents=context.agents(policy),
        asked_by=call.by,
    )
