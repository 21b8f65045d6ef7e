"""Which repositories are asked before their pull requests are checked: those that were installed while Mendbot ran.

A repository is enabled by a `.github/mendbot.yml`, by `MENDBOT_PULL_REQUESTS=all`, or by `/mendbot check` of a person
with write access. Repositories without a record were installed earlier and are checked at once."""

from __future__ import annotations

from bot.config import POLICY_PATH
from bot.github.repository import NoFile
from bot.model import Repo
from bot.model.jobs import Job, JobName
from bot.store.runs.reported import Published
from bot.workflows.context import Context

_TARGET = "installed"
_ASKED, _ENABLED = "asked", "enabled"


async def record_installation(context: Context, repo: Repo) -> None:
    """Record that the App was installed there while Mendbot ran. A repository that was enabled before stays so."""
    if await context.stores.reports.published(repo, _TARGET) is None:
        await _record(context, repo, _ASKED)


async def is_asked_first(context: Context, repo: Repo) -> bool:
    """Whether the repository's pull requests wait. A configuration on the default branch enables them for good."""
    if context.settings.pull_requests == "all" or not await _is_recorded(context, repo):
        return False
    if not await has_configuration(context, repo):
        return True
    await _enable(context, repo)
    return False


async def enable_pull_requests(context: Context, repo: Repo) -> None:
    """Check the repository's pull requests from now on, as a person with write access wants it."""
    if await _is_recorded(context, repo):
        await _enable(context, repo)


async def _enable(context: Context, repo: Repo) -> None:
    """Enable the repository, and have the pull requests that are open now checked, which no event announces."""
    await _record(context, repo, _ENABLED)
    job_id = f"{JobName.OPEN_PULLS}:{repo.installation_id}:{repo.full_name.lower()}"
    args = {"repo": repo.model_dump(mode="json")}
    await context.enqueue(Job(kind=JobName.OPEN_PULLS, id=job_id, partition=repo.full_name, args=args))


async def has_configuration(context: Context, repo: Repo) -> bool:
    """Whether the default branch has a `.github/mendbot.yml`, empty or not, valid or not."""
    client = context.github.repository(repo)
    try:
        return await client.read_file(POLICY_PATH, await client.default_branch()) is not None
    except NoFile:
        return False


async def _is_recorded(context: Context, repo: Repo) -> bool:
    record = await context.stores.reports.published(repo, _TARGET)
    return record is not None and record.digest == _ASKED


async def _record(context: Context, repo: Repo, state: str) -> None:
    await context.stores.reports.record(repo, _TARGET, Published(github_id=None, digest=state))
