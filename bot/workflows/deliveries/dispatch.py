"""Carries out decisions. Each may be carried out again after a crash: rows and jobs are made once, and each report is
published once."""

from __future__ import annotations

from typing import assert_never

from bot.config import Policy
from bot.model import Repo
from bot.model.reasons import ExplainedStop, Reason
from bot.rules.triage.decisions import (
    ButtonPressed,
    CancelRun,
    CheckMergeGroup,
    Decision,
    DropMergeGroup,
    Ignore,
    JudgePolicy,
    QueueIssue,
    ReleaseReports,
    RunBoxes,
    RunCommands,
    StopInstallation,
    SyncCommit,
    SyncPull,
    WelcomeRepositories,
)
from bot.store.database.database import now_ms
from bot.store.inbox.candidates import QueuedIssue
from bot.workflows.commands.accept import accept
from bot.workflows.context import Context, Loop
from bot.workflows.dashboard.boxes import run_boxes
from bot.workflows.installations.asked_first import is_asked_first
from bot.workflows.installations.welcome import welcome
from bot.workflows.kernel import stop_run
from bot.workflows.pulls.buttons import handle_button
from bot.workflows.pulls.config_check import check_config_at
from bot.workflows.pulls.loop import PULL_CHECK
from bot.workflows.pulls.merge_queue import check_merge_group, drop_merge_group
from bot.workflows.pulls.sync import sync_commit, sync_pull
from bot.workflows.reporting.held_reports import publish_held_reports
from bot.workflows.runs.request import cancel_run, make_candidate, quiet_ms, stop_work


async def dispatch(context: Context, decision: Decision, policy: Policy) -> Reason | None:
    """Carry out a decision. Returns the result where it is not the decision's own reason, else None."""
    match decision:
        case QueueIssue():
            await _queue_issue(context, policy, decision)
        case CancelRun():
            await _stop_issue(context, decision, policy)
        case StopInstallation():
            await _stop_installation(context, decision)
        case SyncPull():
            if decision.head is not None:
                sha, at = decision.head
                await context.stores.approvals.saw_head(decision.repo, decision.number, sha, at)
            return await sync_pull(context, decision.repo, decision.number)
        case SyncCommit():
            return await sync_commit(
                context, decision.repo, decision.sha, again=decision.again, because=decision.because
            )
        case CheckMergeGroup():
            return await check_merge_group(context, decision)
        case DropMergeGroup():
            return await drop_merge_group(context, decision)
        case ButtonPressed():
            return await handle_button(context, decision)
        case RunCommands():
            return await accept(context, decision)
        case RunBoxes():
            return await run_boxes(context, decision)
        case JudgePolicy():
            context.wake[Loop.DASHBOARDS].set()
            await is_asked_first(context, decision.repo)  # a configuration enables a new repository
            return await check_config_at(context, decision.repo, decision.sha)
        case ReleaseReports():
            return await publish_held_reports(context, decision)
        case WelcomeRepositories():
            return await welcome(context, decision)
        case Ignore():
            return None
        case _:
            assert_never(decision)
    return None


async def _queue_issue(context: Context, policy: Policy, candidate: QueueIssue) -> None:
    waiting = QueuedIssue(
        repo=candidate.repo,
        issue=candidate.issue_number,
        at=now_ms(),
        quiet_ms=quiet_ms(context, policy),
        since=candidate.at,
        asked_by=candidate.by or None,
    )
    await make_candidate(context, waiting)


async def _stop_issue(context: Context, decision: CancelRun, policy: Policy) -> None:
    """Stop the run that holds an issue; the group's other issues are still wanted and wait for a run of their own."""
    await stop_work(context, decision.repo, decision.issue_number, decision.because, policy)


async def _stop_installation(context: Context, decision: StopInstallation) -> None:
    """Stop what runs and waits there, and hold its reports: the App may publish nothing there any more."""

    def is_affected(repo: Repo) -> bool:
        named = decision.repositories is None or repo.full_name in decision.repositories
        return named and repo.installation_id == decision.installation_id

    for burst in await context.stores.candidates.bursts():
        for number in burst.issues if is_affected(burst.repo) else ():
            await context.stores.candidates.drop(burst.repo, number)
    for row in await context.stores.runs.unfinished():
        if row.spec.repo is not None and is_affected(row.spec.repo):
            await context.stores.runs.hold_reports(row.id)
            await cancel_run(context, row, decision.because)
    for checks in await context.stores.pulls.unfinished():
        if is_affected(checks.spec.repo):
            await context.stores.pulls.hold_reports(checks.id)
            await stop_run(context, PULL_CHECK, checks, ExplainedStop.of("cancelled", decision.because))
