"""`/mendbot ok-to-test`: approves one commit of an outside contributor (T11)."""

from __future__ import annotations

from bot.model import Model
from bot.model.pulls import PullRequest
from bot.reports.commands.replies import done_reply
from bot.store.database.database import now_ms
from bot.workflows.commands.idempotency import begin_once
from bot.workflows.commands.types import CommandCall, CommandRequest, CommandResult, refused
from bot.workflows.context import Context
from bot.workflows.pulls.sync import sync_pull


class Approval(Model):
    """The commit that is approved; empty where the approval was refused."""

    sha: str


async def ok_to_test(context: Context, call: CommandCall) -> CommandResult:
    """Let one commit run: the one that is named, else the head that was known when the comment was delivered."""
    pull = await context.github.repository(call.repo).pull(call.number)
    if pull.state != "open":
        return refused(call, "pull_closed")
    named = call.command.args[0].lower() if call.command.args else None
    if named is None:
        refusal = _unseen_head(pull, call.request)
    else:
        refusal = None if pull.head_sha.startswith(named) else "not_the_head"
    # an approval stands, whatever was pushed between a crash and now
    approval = await begin_once(context, call, Approval(sha="" if refusal else pull.head_sha))
    if refusal is not None and not approval.sha:
        return refused(call, refusal, sha=pull.head_sha[:12], named=(named or "")[:12])
    sha = approval.sha or pull.head_sha
    await context.stores.approvals.approve(call.repo, call.number, sha, call.by, now_ms())
    await sync_pull(context, call.repo, call.number)
    return CommandResult(True, done_reply("ok-to-test", {"sha": sha}, call.language))


def _unseen_head(pull: PullRequest, request: CommandRequest) -> str | None:
    """Why the approver may not have seen this head, as the kind of a refusal; None where nothing suggests that."""
    if request.head is not None and request.head[0] != pull.head_sha:
        return "head_moved"
    at = request.head[1] if request.head is not None else None
    if at is None or request.at is None:
        return "head_unsure"
    # GitHub's times are whole seconds: of two heads in one second, either may be meant
    if at > request.at or (at == request.at and not request.alone):
        return "head_just_pushed"
    return None
