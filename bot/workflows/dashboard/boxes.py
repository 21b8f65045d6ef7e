"""Runs the commands of ticked boxes, as if they had been commented in the threads that they are for."""

from __future__ import annotations

from bot.model.commands import SlashCommand
from bot.model.reasons import Reason
from bot.rules.reasons import all_reasons, make_reason
from bot.rules.triage.decisions import RunBoxes, RunCommands
from bot.store.runs.reported import Published
from bot.workflows.commands.accept import accept
from bot.workflows.context import Context, Loop

TARGET = "issue:dashboard"
"""Where `store.runs.reported` has the number of the dashboard issue, and a digest of its text."""


async def run_boxes(context: Context, decision: RunBoxes) -> Reason:
    """Accept the commands, each once, and have the boxes emptied; returns the result.

    The answer to a command is in its own thread."""
    repo = decision.repo
    published = await context.stores.reports.published(repo, TARGET)
    if published is None or published.github_id != decision.number:
        return make_reason("dashboard.other", number=decision.number)
    results = []
    for line, box in enumerate(decision.boxes, 1):
        request = RunCommands(
            repo=repo,
            number=box.number,
            is_pull=box.where == "pull",
            kind="dashboard",
            comment_id=decision.number,
            by=decision.by,
            commands=(SlashCommand(verb=box.verb, text=f"/mendbot {box.verb}", line=line),),
            at=decision.at,
            because=decision.because,
        )
        results.append(await accept(context, request))
    await context.stores.reports.record(repo, TARGET, Published(github_id=decision.number, digest=""))
    context.wake[Loop.DASHBOARDS].set()
    return all_reasons(dict.fromkeys(results))
