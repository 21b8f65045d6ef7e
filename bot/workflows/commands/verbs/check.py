"""`/mendbot check`: checks the head commit now."""

from __future__ import annotations

from bot.rules.pulls.eligibility import EligibilityFacts, trust
from bot.rules.reasons import make_reason
from bot.workflows.commands.idempotency import has_new_checks
from bot.workflows.commands.types import CommandCall, CommandResult, refused
from bot.workflows.context import Context
from bot.workflows.installations.asked_first import enable_pull_requests
from bot.workflows.pulls.sync import check_again, with_trust


async def check(context: Context, call: CommandCall) -> CommandResult:
    """Check the head, whatever drafts, paths or a pause imply: all checks, or those that the command names.

    In a newly installed repository, the next pull requests are checked, too."""
    await enable_pull_requests(context, call.repo)
    return await check_head(context, call, call.command.args)


async def check_head(context: Context, call: CommandCall, only: tuple[str, ...]) -> CommandResult:
    """Check the head: the checks in `only`, or all where it is empty. Refused where its code may not run."""
    repo, number = call.repo, call.number
    if await has_new_checks(context, call):
        return CommandResult(True)
    pull = await context.github.repository(repo).pull(number)
    if pull.state != "open":
        return refused(call, "pull_closed")
    login = (await context.github.app_identity()).login
    eligibility = trust(pull, await with_trust(context, repo, pull, EligibilityFacts(login, repo.full_name)))
    if eligibility.standing != "wanted":
        return refused(call, "no_box" if context.sandbox.trusted_only else "awaiting", sha=pull.head_sha[:12])
    if await context.stores.pulls.open_of(repo, number):
        return refused(call, "being_checked", sha=pull.head_sha[:12])
    because = make_reason("event.commanded", by=call.by, command=call.command.verb)
    await check_again(context, repo, number, pull.head_sha, because, only)
    return CommandResult(True)
