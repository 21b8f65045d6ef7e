"""The verbs about a thread itself: approving a head, pausing, and saying how something was fixed."""

from __future__ import annotations

from bot.model.pulls import CheckStatus, PullRequest
from bot.reports.commands.replies import done_reply
from bot.rules.pulls.state import checks_of
from bot.store.database.database import now_ms
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.commands.idempotency import begin_once
from bot.workflows.commands.types import CommandCall, CommandRequest, CommandResult, refused
from bot.workflows.context import Context
from bot.workflows.history.learn_from_people import learn_resolved
from bot.workflows.pulls.sync import sync_pull
from bot.workflows.runs.loop import FIX_RUN


async def ok_to_test(context: Context, ask: CommandCall) -> CommandResult:
    """Let one commit run: the one named, else the head that was known when the comment came (T11)."""
    pull = await context.github.repository(ask.repo).pull(ask.number)
    if pull.state != "open":
        return refused(ask, "pull_closed")
    named = ask.command.args[0].lower() if ask.command.args else None
    doubt = _moved(pull, ask.order) if named is None else _other(pull, named)
    # what was approved stays so, whatever was pushed between a crash and now
    sha = (await begin_once(context, ask, sha="" if doubt else pull.head_sha))["sha"]
    if doubt is not None and not sha:
        return refused(ask, doubt, sha=pull.head_sha[:12], named=(named or "")[:12])
    await context.stores.approvals.approve(ask.repo, ask.number, sha or pull.head_sha, ask.by, now_ms())
    await sync_pull(context, ask.repo, ask.number)
    return CommandResult(True, done_reply("ok-to-test", {"sha": sha or pull.head_sha}, ask.language))


def _other(pull: PullRequest, named: str) -> str | None:
    return None if pull.head_sha.startswith(named) else "not_the_head"


def _moved(pull: PullRequest, order: CommandRequest) -> str | None:
    """Why it is doubtful that whoever approved had seen this head; None where it is not."""
    if order.head is not None and order.head[0] != pull.head_sha:
        return "head_moved"
    at = order.head[1] if order.head is not None else None
    if at is None or order.at is None:
        return "head_unsure"
    # GitHub's times are whole seconds: of two heads in one, nobody can tell which was meant
    if at > order.at or (at == order.at and not order.alone):
        return "head_just_pushed"
    return None


async def pause(context: Context, ask: CommandCall) -> CommandResult:
    """Start nothing more here by itself, and let what runs wait, until somebody says `resume`."""
    await context.stores.threads.pause(ask.repo, ask.number, ask.by, now_ms())
    context.wake["report"].set()
    return CommandResult(True, done_reply("pause", {}, ask.language))


async def resume(context: Context, ask: CommandCall) -> CommandResult:
    """Go on where it was paused."""
    paused = await context.stores.threads.paused(ask.repo, ask.number) is not None
    if not (await begin_once(context, ask, paused=paused))["paused"]:
        return refused(ask, "nothing_paused")
    await context.stores.threads.resume(ask.repo, ask.number)
    if ask.order.is_pull:
        await sync_pull(context, ask.repo, ask.number)
    context.wake["gather"].set()
    row = await context.stores.runs.open_run(ask.repo, ask.number)
    if row is not None:
        await context.wake_job(FIX_RUN.job(row.id, row.place).id)
    return CommandResult(True, done_reply("resume", {}, ask.language))


async def resolved(context: Context, ask: CommandCall) -> CommandResult:
    """Remember how the failures that were told here last were fixed, in a person's words (REQ-RA-311)."""
    errors = await open_errors(context, ask)
    if not errors:
        return refused(ask, "no_failure")
    how = context.mask(" ".join(ask.command.args))
    count = await learn_resolved(context, ask.repo, errors, by=ask.by, how=how, key=ask.id)
    return CommandResult(True, done_reply("resolved", {"count": str(count)}, ask.language))


async def open_errors(context: Context, ask: CommandCall) -> tuple[str, ...]:
    """What the thread's last run and the last checks of its pull request left failing."""
    errors: list[str] = []
    for row in await context.stores.runs.of_thread(ask.repo, ask.number, most=1):
        errors += (await context.stores.runs.state(row.id)).failing
    checks = await context.stores.pulls.latest_of(ask.repo, ask.number) if ask.order.is_pull else None
    if checks is not None:
        errors += [one.error for check in await checks_told(context, checks) for one in check.new]
    return tuple(dict.fromkeys(error for error in errors if error))


async def checks_told(context: Context, row: PullCheckRow) -> tuple[CheckStatus, ...]:
    """The checks of such a run as far as it came."""
    return checks_of(row.spec, await context.stores.pulls.state(row.id))
