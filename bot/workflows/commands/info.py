"""The verbs that only tell: each answers in the thread's one comment for that purpose."""

from __future__ import annotations

from bot.model import Repo, RunView
from bot.model.pulls import PullCheckReport
from bot.reports.commands import answers
from bot.reports.commands.replies import help_reply
from bot.rules.commands.verbs import VERBS, aliases_of
from bot.store.database.database import now_ms
from bot.store.runs.runs import RunRow
from bot.workflows.commands.types import CommandCall, CommandResult
from bot.workflows.context import Context
from bot.workflows.history.seen_before import with_memory
from bot.workflows.pulls.publish_checks import pull_view
from bot.workflows.reporting.run_view import view_of

_RUNS_TOLD = 3
_KNOWN_TOLD = 10


async def status(context: Context, ask: CommandCall) -> CommandResult:
    """What runs or waits here, and how the last run ended."""
    rows = await context.stores.runs.of_thread(ask.repo, ask.number, most=_RUNS_TOLD)
    body = answers.status_answer(
        [await get_run_view(context, row) for row in rows],
        await latest_checks(context, ask.repo, ask.number) if ask.order.is_pull else None,
        paused_by=await context.stores.threads.paused(ask.repo, ask.number),
        waiting=(await context.stores.candidates.waiting(ask.repo, ask.number))[0],
        language=ask.language,
        label=ask.policy.trigger_label,
    )
    return CommandResult(True, body, "status")


async def explain(context: Context, ask: CommandCall) -> CommandResult:
    """What failed, what was tried, why it stopped, what the history knows."""
    rows = await context.stores.runs.of_thread(ask.repo, ask.number, most=1)
    run = await get_run_view(context, rows[-1]) if rows else None
    pull = await latest_checks(context, ask.repo, ask.number) if ask.order.is_pull else None
    label = ask.policy.trigger_label
    return CommandResult(True, answers.explain_answer(run, pull, ask.language, label=label), "explain")


async def history(context: Context, ask: CommandCall) -> CommandResult:
    """What is known of the errors of a file, in this repository alone."""
    path, repo = ask.command.args[0], ask.repo.full_name
    found = await context.stores.history.by_file(path, most=_KNOWN_TOLD, repo=repo)
    return CommandResult(True, answers.history_answer(path, found, ask.language, repo), "history")


async def help_(context: Context, ask: CommandCall) -> CommandResult:
    """The table of verbs."""
    aliases = aliases_of(ask.policy.aliases)
    body = help_reply(VERBS.values(), ask.language, where=ask.order.where, aliases=aliases)
    return CommandResult(True, body, "help")


async def get_run_view(context: Context, row: RunRow) -> RunView:
    """A run as its readers see it now: an answer is given once, so it may tell how long a run has waited."""
    state = await context.stores.runs.state(row.id)
    view = view_of(row, state, now_ms=now_ms())
    return await with_memory(context, row, state, view)


async def latest_checks(context: Context, repo: Repo, number: int) -> PullCheckReport | None:
    """The newest run of checks of a pull request as its readers see it."""
    row = await context.stores.pulls.latest_of(repo, number)
    if row is None:
        return None
    return await pull_view(context, row, await context.stores.pulls.state(row.id))
