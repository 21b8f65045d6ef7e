"""`/mendbot apply`: tries the diff in the comment as a run's only change."""

from __future__ import annotations

from bot.agent.apply_comment import parse_comment_patch
from bot.config import Policy
from bot.errors import UserError
from bot.model.reasons import Reason
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import reason_text
from bot.rules.patches.change_policy import check_proposed
from bot.rules.reasons import error_reason
from bot.workflows.commands.eligibility import issue_refusal
from bot.workflows.commands.idempotency import has_new_run
from bot.workflows.commands.types import CommandCall, CommandResult, refused
from bot.workflows.commands.verbs.fix import issue_spec, start_answer
from bot.workflows.commands.verbs.resolved import open_errors
from bot.workflows.context import Context
from bot.workflows.pulls.shared_heads import checks_at, get_checks
from bot.workflows.pulls.start_fix import allowed, run_spec, start_run

GIVEN = "given"
"""The agent that offers the diff of the comment, once."""


async def apply(context: Context, call: CommandCall) -> CommandResult:
    """Try the diff on the issue's own branch, or on the pull request's head."""
    diff = call.command.block or ""
    problem = _problem(diff, call.policy)
    if problem is not None:
        return refused(call, "bad_diff", problem=reason_text(problem, call.language))
    # the failures are checked once more without the change: that it passes with the change can be learned (REQ-RA-311)
    failed = bool(await open_errors(context, call))
    if await has_new_run(context, call):
        return CommandResult(True)
    if call.request.is_pull:
        pull, policy, refusal = await allowed(context, call.repo, call.number)
        if refusal is not None:
            return start_answer(call, refusal)
        row = await checks_at(context, call.repo, call.number, pull.head_sha)
        checks = await get_checks(context, row) if row is not None else ()
        spec = run_spec(context, call.repo, pull, policy, goal=t("en", "task.apply", by=call.by), checks=checks)
    else:
        if await context.stores.runs.open_run(call.repo, call.number) is not None:
            return refused(call, "cancel_first", number=call.number)
        unfit = await issue_refusal(context, call, call.number)
        if unfit is not None:
            return unfit
        spec = await issue_spec(context, call)
        spec = spec.model_copy(update={"key": f"given-{spec.key}"})
    only = {"given": diff, "given_by": call.by, "agents": (GIVEN,), "max_attempts": 1, "baseline": failed}
    return start_answer(call, await start_run(context, spec.model_copy(update=only)))


def _problem(diff: str, policy: Policy) -> Reason | None:
    try:
        refusal = check_proposed(parse_comment_patch(diff), policy.protected_paths)
    except UserError as error:
        return error_reason(error)
    return None if refusal is None else refusal.because
