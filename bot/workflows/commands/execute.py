"""The job that runs the commands of one comment, in their order: each is done once, whatever crashes in between. At
the end 🚀, or 😕 and one reply that says what was wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from bot.errors import Stale, UserError
from bot.github.threads import Reply
from bot.logs import get_logger
from bot.model import Language
from bot.model.commands import SlashCommand
from bot.model.jobs import StepResult
from bot.model.reasons import ExplainedStop
from bot.reports.commands.replies import busy_reply, error_reply, refused_reply
from bot.reports.locale.reasons import reason_text
from bot.rules.commands.verbs import misplaced, only_reads
from bot.rules.reasons import error_reason
from bot.workflows.commands.accept import MOST_PER_HOUR, react
from bot.workflows.commands.fix import apply, cancel, check, fix, retest, retry
from bot.workflows.commands.group import group
from bot.workflows.commands.info import explain, help_, history, status
from bot.workflows.commands.pause import ok_to_test, pause, resolved, resume
from bot.workflows.commands.types import CommandCall, CommandRequest, CommandResult, from_args, question_id
from bot.workflows.context import Context
from bot.workflows.repo_config import get_policy, kept_policy
from bot.workflows.reporting.publish_replies import publish_reply

Verb = Callable[[Context, CommandCall], Awaitable[CommandResult]]

TABLE: Mapping[str, Verb] = {
    "fix": fix,
    "check": check,
    "retest": retest,
    "retry": retry,
    "cancel": cancel,
    "status": status,
    "group": group,
    "apply": apply,
    "explain": explain,
    "history": history,
    "resolved": resolved,
    "ok-to-test": ok_to_test,
    "pause": pause,
    "resume": resume,
    "help": help_,
}
"""What runs each verb; a test holds it against `rules.commands.verbs.VERBS`."""

log = get_logger()

_DONE, _NOT_DONE = "done", "not done"


async def execute(context: Context, args: dict[str, Any]) -> StepResult:
    """Run a comment's commands; after a crash, what was run before is not run twice."""
    order, ids = from_args(args)
    policy, _ = await get_policy(context, order.repo)
    language = policy.language or context.settings.language
    faulty: list[SlashCommand] = []
    words: dict[str, list[str]] = {}
    good = True
    for name, given in zip(ids, order.commands, strict=True):
        command = misplaced(given, order.where) or given
        if command.problem:
            faulty.append(command)
            continue
        ask = CommandCall(name, order, command, policy, language)
        said = await _before(context, ask) or await _one(context, ask)
        good = good and said.done
        if said.words:
            words.setdefault(said.purpose, []).append(said.words)
            await _publish_texts(context, order, said.purpose, words[said.purpose])
        await context.stores.commands.finish(name, _recorded(context, said))
    await _close(context, order, language, faulty, good, words.get("reply", []))
    return StepResult(done=True)


async def _publish_texts(context: Context, order: CommandRequest, purpose: str, words: Sequence[str]) -> None:
    """Say it where the conversation takes words; in one that is locked or gone, what was asked is done all the same."""
    reply = Reply(
        key=purpose,
        about=question_id(order),
        body=context.mask("\n\n".join(words)),
        since=order.at,
        beside=order.kind != "issue_comment",
    )
    try:
        await publish_reply(context, order.repo, order.number, reply)
    except (Stale, UserError) as error:
        log.warning("no_answer", repo=order.repo.full_name, number=order.number, because=str(error))


async def _before(context: Context, ask: CommandCall) -> CommandResult | None:
    """What a command came to before a crash, with its words, since those after it say theirs in the same comment. What
    only reads is asked anew: that costs nothing, and its answer is no longer than it has to be."""
    outcome = None if only_reads(ask.command) else await context.stores.commands.outcome_of(ask.id)
    if outcome is None:
        return None
    end, _, words = outcome.partition("\n")
    return CommandResult(end == _DONE, words)


def _recorded(context: Context, said: CommandResult) -> str:
    return f"{_DONE if said.done else _NOT_DONE}\n{context.mask(said.words) if said.purpose == 'reply' else ''}"


async def _one(context: Context, ask: CommandCall) -> CommandResult:
    """What the command came to; what GitHub refuses is its answer, and what fails in passing is tried again."""
    try:
        return await TABLE[ask.command.verb](context, ask)
    except (UserError, Stale) as error:
        why = context.mask(reason_text(error_reason(error), ask.language))
        return CommandResult(False, refused_reply(ask.command, why, ask.language))


async def _close(
    context: Context, order: CommandRequest, language: Language, faulty: list[SlashCommand], good: bool, said: list[str]
) -> None:
    if faulty:
        said = [*said, error_reply(faulty, language, author=order.by)]
    if order.busy:
        said = [*said, busy_reply(language, MOST_PER_HOUR)]
    if faulty or order.busy:
        await _publish_texts(context, order, "reply", said)
    if order.commands:
        await react(context, order, "rocket" if good and not faulty else "confused")


async def fail_command(context: Context, args: dict[str, Any], stop: ExplainedStop) -> None:
    """The last word on an order that cannot be carried out: a fault of ours, or GitHub gone for an hour."""
    order, _ = from_args(args)
    if not order.commands:
        return
    policy = await kept_policy(context, order.repo)  # GitHub itself may be what is gone
    language = (policy.language if policy is not None else None) or context.settings.language
    why = reason_text(stop.details, language)
    await _publish_texts(context, order, "reply", [refused_reply(order.commands[0], why, language)])
    await react(context, order, "confused")
