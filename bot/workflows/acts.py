"""What is done about a decision. Each may be done again after a crash: rows and jobs are made once, and GitHub is told
once."""

from __future__ import annotations

from typing import assert_never

from bot.config import Policy
from bot.model import Repo
from bot.rules.decisions import (
    CancelRun,
    Candidate,
    CheckMergeGroup,
    Decision,
    DropMergeGroup,
    Ignore,
    JudgePolicy,
    LookAtCommit,
    LookAtPull,
    Obey,
    PressedButton,
    StopInstallation,
    TellAgain,
)
from bot.store.candidates import Candidate as Waiting
from bot.store.database import now_ms
from bot.workflows.commands.hear import hear
from bot.workflows.context import Context
from bot.workflows.pulls.buttons import press
from bot.workflows.pulls.look import look, look_at_commit
from bot.workflows.pulls.policy_check import judge_policy_at
from bot.workflows.pulls.queue import check_merge_group, drop_merge_group
from bot.workflows.pulls.start import stop_run
from bot.workflows.retell import tell_again
from bot.workflows.stopping import cancel, make_candidate, quiet_ms, stop_work


async def act(context: Context, decision: Decision, policy: Policy) -> str | None:
    """Do it; what came of it where the decision could not say so yet."""
    match decision:
        case Candidate():
            await _wait_quietly(context, policy, decision)
        case CancelRun():
            await _stop_issue(context, decision, policy)
        case StopInstallation():
            await _stop_installation(context, decision)
        case LookAtPull():
            if decision.head is not None:
                sha, at = decision.head
                await context.stores.approvals.saw_head(decision.repo, decision.number, sha, at)
            return await look(context, decision.repo, decision.number)
        case LookAtCommit():
            return await look_at_commit(
                context, decision.repo, decision.sha, again=decision.again, because=decision.because
            )
        case CheckMergeGroup():
            return await check_merge_group(context, decision)
        case DropMergeGroup():
            return await drop_merge_group(context, decision)
        case PressedButton():
            return await press(context, decision)
        case Obey():
            return await hear(context, decision)
        case JudgePolicy():
            return await judge_policy_at(context, decision.repo, decision.sha)
        case TellAgain():
            return await tell_again(context, decision)
        case Ignore():
            return None
        case _:
            assert_never(decision)
    return None


async def _wait_quietly(context: Context, policy: Policy, candidate: Candidate) -> None:
    waiting = Waiting(
        repo=candidate.repo,
        issue=candidate.issue_number,
        labeled_by=candidate.because,
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
    """Stop what runs and waits there, without a further word to GitHub: the App may no longer speak."""

    def meant(repo: Repo) -> bool:
        named = decision.repositories is None or repo.full_name in decision.repositories
        return named and repo.installation_id == decision.installation_id

    for burst in await context.stores.candidates.bursts():
        for number in burst.issues if meant(burst.repo) else ():
            await context.stores.candidates.drop(burst.repo, number)
    for row in await context.stores.runs.unfinished():
        if row.spec.repo is not None and meant(row.spec.repo):
            await context.stores.runs.silence(row.id)
            await cancel(context, row, decision.because)
    for checks in await context.stores.pulls.unfinished():
        if meant(checks.spec.repo):
            await context.stores.pulls.silence(checks.id)
            await stop_run(context, checks, decision.because)
