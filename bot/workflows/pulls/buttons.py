"""Buttons on check runs: GitHub's own *Re-run*, and ours: *Re-run failed*, *Fix*, *Cancel*."""

from __future__ import annotations

from bot.github.threads import Reply
from bot.model import Repo
from bot.model.commands import SlashCommand
from bot.model.reasons import ExplainedStop, Reason
from bot.reports.commands.replies import refused_reply
from bot.rules.failures.failure_origin import green
from bot.rules.pulls.check_spec import MERGE_GROUP
from bot.rules.reasons import make_reason, quoted
from bot.rules.triage.decisions import ButtonPressed
from bot.rules.triage.pull_requests import RERUN
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.context import Context
from bot.workflows.kernel import stop_run
from bot.workflows.pulls.config_check import CHECK as CONFIG
from bot.workflows.pulls.config_check import check_config_at
from bot.workflows.pulls.loop import PULL_CHECK
from bot.workflows.pulls.merge_queue import check_group_again
from bot.workflows.pulls.shared_heads import checks_at, get_checks
from bot.workflows.pulls.start_fix import start_fix
from bot.workflows.pulls.sync import check_again, sync_commit
from bot.workflows.repo_config import get_policy
from bot.workflows.reporting.publish_replies import publish_reply
from bot.workflows.reporting.publisher import report_digest
from bot.workflows.runs.request import cancel_run

_FIX = SlashCommand(verb="fix", text="Fix")
"""The command that a refusal of the *Fix* button names."""


async def handle_button(context: Context, pressed: ButtonPressed) -> Reason:
    """Carry out the button; returns the result. A button of a replaced head does nothing."""
    repo, sha = pressed.repo, pressed.head_sha
    if pressed.check == CONFIG:
        return await check_config_at(context, repo, sha)
    number = await _number(context, pressed)
    if number is None:
        # a check run that shows that nothing runs: a trusted person's re-run starts all checks
        again = pressed.trusted and pressed.identifier == RERUN
        return await sync_commit(context, repo, sha, again=again, because=pressed.because)
    if pressed.identifier == "cancel":
        return await _cancel(context, pressed)
    if pressed.identifier == "fix" or pressed.check == "fix":
        if number == MERGE_GROUP:
            return make_reason("button.no_fix_in_queue")
        return await _fix(context, pressed, number)
    only = (pressed.check,) if pressed.identifier == RERUN else await failed_checks(context, repo, number, sha)
    if not only:
        return make_reason("button.nothing_failed")
    if number == MERGE_GROUP:
        return await check_group_again(context, repo, sha, pressed.because, only) or make_reason("queue.unknown")
    return await check_again(context, repo, number, sha, pressed.because, only)


async def failed_checks(context: Context, repo: Repo, number: int, sha: str) -> tuple[str, ...]:
    """The checks of a head that did not pass in their last run, or did not end in it."""
    row = await checks_at(context, repo, number, sha)
    if row is None:
        return ()
    checks = await get_checks(context, row)
    ended = row.status in ("done", "cancelled")
    return tuple(check.name for check in checks if not green(check) and (ended or check.status == "completed"))


async def _number(context: Context, pressed: ButtonPressed) -> int | None:
    """The pull request of the button; None unless the run that it names is of this repository and commit."""
    checks = await context.stores.pulls.get(pressed.run_id)
    if checks is not None and _is_of_run(checks, pressed):
        return checks.spec.number
    run = await context.stores.runs.get(pressed.run_id)
    if run is None or run.spec.repo is None or run.spec.pull is None:
        return None
    return run.spec.pull.number if run.spec.repo.full_name == pressed.repo.full_name else None


def _is_of_run(row: PullCheckRow, pressed: ButtonPressed) -> bool:
    return row.spec.repo.full_name == pressed.repo.full_name and row.spec.head_sha == pressed.head_sha


async def _cancel(context: Context, pressed: ButtonPressed) -> Reason:
    checks = await context.stores.pulls.get(pressed.run_id)
    if checks is not None:
        stop = ExplainedStop.of("cancelled", make_reason("stop.pressed", by=pressed.by))
        stopped = await stop_run(context, PULL_CHECK, checks, stop)
        return make_reason("button.checks_cancelled", by=pressed.by) if stopped else make_reason("button.checks_ended")
    run = await context.stores.runs.get(pressed.run_id)
    if run is not None and not run.status.final:
        await cancel_run(context, run, make_reason("stop.pressed", by=pressed.by))
        return make_reason("button.fix_cancelled", by=pressed.by)
    return make_reason("button.ended")


async def _fix(context: Context, pressed: ButtonPressed, number: int) -> Reason:
    """Start a fix for a person with write access, or for the author of a pull request from the repository itself."""
    repo = pressed.repo
    pull = await context.github.repository(repo).pull(number)
    if not pressed.trusted:
        own = pull.head_repo is not None and pull.head_repo.casefold() == repo.full_name.casefold()
        if not own or pull.author.casefold() != pressed.by.casefold():
            return make_reason("button.not_allowed", by=pressed.by)
    if pull.head_sha != pressed.head_sha:
        return make_reason("button.not_head", sha=pressed.head_sha[:12], number=number)
    answer = await start_fix(context, repo, number, by=pressed.by)
    if answer.why == "pull_taken":
        return make_reason("button.fix_runs", number=number)  # clicked twice: the fix has a check run already
    if answer.run_id is None:
        policy, _ = await get_policy(context, repo)
        language = context.language(policy)
        text = refused_reply(_FIX, answer.text(language), language)
        # no event has the time of a click, so the same text about the same check run is published once
        about = f"button-{pressed.check_run_id}-{report_digest(text)[:8]}"
        await publish_reply(context, repo, number, Reply("reply", about, context.mask(text), beside=True))
        return make_reason("button.no_fix", why=quoted(answer.text("en")))
    return make_reason("button.fix_started", by=pressed.by, number=number)
