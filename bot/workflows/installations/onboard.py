"""The job that opens the onboarding issue of a newly installed repository: what Mendbot found there, what it would do,
and the file to commit. A repository gets one such issue ever, also if it was closed or the App was installed again."""

from __future__ import annotations

import asyncio
from functools import partial

from bot.errors import Transient
from bot.logs import get_logger
from bot.model import Language, Model, Repo
from bot.model.jobs import JobArgs, StepResult
from bot.model.project_plan import ProjectPlan
from bot.reports.locale.reasons import user_error
from bot.reports.onboarding.issue import OnboardingView, onboarding_body, onboarding_title
from bot.rules.reasons import make_reason
from bot.store.runs.reported import Published
from bot.workflows.checks.project_plan import plan_project
from bot.workflows.context import Context
from bot.workflows.git_transfer import transfer
from bot.workflows.installations.asked_first import has_configuration, record_id
from bot.workflows.repo_config import get_policy
from bot.workspace.mirror import mirror as mirrors
from bot.workspace.worktree.detached import ensure_detached
from bot.workspace.worktree.run_worktree import remove_worktree

KEY = "onboarding"
TARGET = f"issue:{KEY}"
"""Where `store.runs.reported` has the issue's number."""

log = get_logger()


class NewRepository(Model):
    """The arguments of the job."""

    repo: Repo


async def onboard(context: Context, args: JobArgs) -> StepResult:
    """Open the repository's onboarding issue, unless it had one, has a configuration already, or takes no issues."""
    repo = NewRepository.model_validate(args).repo
    await record_id(context, repo)
    if await context.stores.reports.published(repo, TARGET) is not None:
        return StepResult(done=True)
    client = context.github.repository(repo)
    if not await client.takes_issues() or await has_configuration(context, repo):
        log.info("no_onboarding_issue", repo=repo.full_name, because="it takes no issues, or has a configuration")
        return StepResult(done=True)
    number = await client.find_issue(KEY)
    if number is None:
        title, body = await _issue(context, repo)
        number = await client.open_issue(KEY, title, context.mask(body))
        log.info("onboarding_issue_opened", repo=repo.full_name, number=number)
    await context.stores.reports.record(repo, TARGET, Published(github_id=number, digest=KEY))
    return StepResult(done=True)


async def _issue(context: Context, repo: Repo) -> tuple[str, str]:
    policy, branch = await get_policy(context, repo)
    language: Language = context.language(policy)
    view = OnboardingView(
        repository=repo.full_name,
        github_url=context.settings.github_url,
        branch=branch,
        plan=await _plan(context, repo, branch),
        label=policy.trigger_label,
        checks_at_once=context.settings.pull_requests == "all",
    )
    return onboarding_title(language), onboarding_body(view, language)


async def _plan(context: Context, repo: Repo, branch: str) -> ProjectPlan:
    """What is found in the files of the default branch; an empty plan where the repository has no commit."""
    mirror = context.mirror(repo)
    await mirrors.ensure_mirror(mirror)
    await transfer(context, repo, partial(mirrors.fetch, mirror), write=False)
    commit = await mirrors.resolve(mirror, f"refs/remotes/origin/{branch}")
    if commit is None:
        return ProjectPlan()
    where = context.settings.home / "pulls" / repo.owner / repo.name / KEY / "tree"
    tree = await ensure_detached(mirror, where, commit)
    try:
        policy, _ = await get_policy(context, repo)
        plan = await asyncio.to_thread(plan_project, tree.path, policy)
        if not tree.path.is_dir():  # the cleanup may have taken it for the tree of an ended check
            raise user_error(make_reason("checkout.no_commit", sha=commit[:12]), Transient)
        return plan
    finally:
        await remove_worktree(mirror, where)
        if where.parent.is_dir():
            where.parent.rmdir()
