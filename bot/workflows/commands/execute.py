"""The job that executes the commands of one comment in their order, each once, whatever crashes in between. At the end
it puts 🚀 on the comment, or 😕 with one reply that names the problems."""

from __future__ import annotations

from collections.abc import Sequence

from bot.errors import Stale, UserError
from bot.github.threads import Reply
from bot.logs import get_logger
from bot.model import Language
from bot.model.commands import SlashCommand
from bot.model.jobs import JobArgs, StepResult
from bot.model.reasons import ExplainedStop, Reason
from bot.reports.commands.replies import busy_reply, error_reply, refused_reply
from bot.reports.locale.reasons import reason_text
from bot.rules.commands.verbs import misplaced, only_reads
from bot.rules.reasons import error_reason
from bot.workflows.commands.accept import MAX_PER_HOUR, react
from bot.workflows.commands.table import COMMANDS
from bot.workflows.commands.types import CommandCall, CommandRequest, CommandResult, request_id
from bot.workflows.context import Context
from bot.workflows.repo_config import get_policy, last_good_policy
from bot.workflows.reporting.publish_replies import publish_reply

log = get_logger()

_DONE, _NOT_DONE = "done", "not done"


async def execute(context: Context, args: JobArgs) -> StepResult:
    """Execute a comment's commands; after a crash, none that has ended is executed again."""
    request = CommandRequest.model_validate(args)
    policy, _ = await get_policy(context, request.repo)
    language = context.language(policy)
    invalid: list[SlashCommand] = []
    texts: dict[str, list[str]] = {}
    all_done = True
    for id_, written in zip(request.ids, request.commands, strict=True):
        command = misplaced(written, request.where) or written
        if command.problem:
            invalid.append(command)
            continue
        call = CommandCall(id_, request, command, policy, language)
        result = await _recorded_result(context, call) or await _result(context, call)
        all_done = all_done and result.done
        if result.text:
            texts.setdefault(result.purpose, []).append(result.text)
            await _publish_texts(context, request, result.purpose, texts[result.purpose])
        await context.stores.commands.finish(id_, _record(context, result))
    replies = texts.get("reply", [])
    if invalid:
        replies = [*replies, error_reply(invalid, language, author=request.by)]
    if request.busy:
        replies = [*replies, busy_reply(language, MAX_PER_HOUR)]
    if invalid or request.busy:
        await _publish_texts(context, request, "reply", replies)
    if request.commands:
        await react(context, request, "rocket" if all_done and not invalid else "confused")
    return StepResult(done=True)


async def _publish_texts(context: Context, request: CommandRequest, purpose: str, texts: Sequence[str]) -> None:
    """Publish the texts as one comment. In a conversation that is locked or gone the command is done all the same."""
    reply = Reply(
        key=purpose,
        about=request_id(request),
        body=context.mask("\n\n".join(texts)),
        since=request.at,
        beside=request.kind != "issue_comment",
    )
    try:
        await publish_reply(context, request.repo, request.number, reply)
    except (Stale, UserError) as error:
        log.warning("no_answer", repo=request.repo.full_name, number=request.number, because=str(error))


async def _recorded_result(context: Context, call: CommandCall) -> CommandResult | None:
    """The result of a command that ended before a crash, with its text, since later commands share its comment. None
    for a command that only reads: it is executed again, and its answer is then up to date."""
    outcome = None if only_reads(call.command) else await context.stores.commands.outcome_of(call.id)
    if outcome is None:
        return None
    end, _, text = outcome.partition("\n")
    return CommandResult(end == _DONE, text)


def _record(context: Context, result: CommandResult) -> str:
    return f"{_DONE if result.done else _NOT_DONE}\n{context.mask(result.text) if result.purpose == 'reply' else ''}"


async def _result(context: Context, call: CommandCall) -> CommandResult:
    """The result of the command. An error that GitHub or the user caused is a refusal; Transient is raised."""
    try:
        return await COMMANDS[call.command.verb](context, call)
    except (UserError, Stale) as error:
        return CommandResult(False, _refusal(context, call.command, error_reason(error), call.language))


def _refusal(context: Context, command: SlashCommand, reason: Reason, language: Language) -> str:
    return refused_reply(command, context.mask(reason_text(reason, language)), language)


async def fail_command(context: Context, args: JobArgs, stop: ExplainedStop) -> None:
    """Reply that the commands cannot be executed: a fault of ours, or GitHub unreachable for an hour."""
    request = CommandRequest.model_validate(args)
    if not request.commands:
        return
    policy = await last_good_policy(context, request.repo)  # GitHub itself may be what is gone
    text = _refusal(context, request.commands[0], stop.details, context.language(policy))
    await _publish_texts(context, request, "reply", [text])
    await react(context, request, "confused")
