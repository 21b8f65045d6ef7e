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
_ASKED, _ENABLED, _EARLIER = "asked", "enabled", "earlier"


async def record_installation(context: Context, repo: Repo) -> None:
    """Record that the App was installed there while Mendbot ran. A repository that was enabled before stays so."""
    record = await context.stores.reports.published(repo, _TARGET)
    if record is None or record.digest == _EARLIER:
        await _record(context, repo, _ASKED)


async def record_id(context: Context, repo: Repo) -> None:
    """Add the repository's id to its record, so that it is found again under another name."""
    record = await context.stores.reports.published(repo, _TARGET)
    if record is not None and record.github_id is None:
        await _record(context, repo, record.digest, await context.github.repository(repo).repository_id())


async def is_asked_first(context: Context, repo: Repo) -> bool:
    """Whether the repository's pull requests wait. A configuration on the default branch enables them for good."""
    if context.settings.pull_requests == "all" or await _state(context, repo) != _ASKED:
        return False
    if not await has_configuration(context, repo):
        return True
    await _enable(context, repo)
    return False


async def enable_pull_requests(context: Context, repo: Repo) -> None:
    """Check the repository's pull requests from now on, as a person with write access wants it."""
    if await _state(context, repo) == _ASKED:
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


async def _state(context: Context, repo: Repo) -> str | None:
    """The repository's record; None or `earlier` where it was installed before. One that was renamed or transferred is
    found by its id, for which GitHub is asked once."""
    record = await context.stores.reports.published(repo, _TARGET)
    if record is not None:
        return record.digest
    by_id = {each.github_id: each.digest for _, each in await context.stores.reports.at_target(_TARGET)}
    if not any(by_id):
        return None
    number = await context.github.repository(repo).repository_id()
    await _record(context, repo, by_id.get(number, _EARLIER), number)
    return by_id.get(number, _EARLIER)


async def _record(context: Context, repo: Repo, state: str, github_id: int | None = None) -> None:
    if github_id is None and (record := await context.stores.reports.published(repo, _TARGET)) is not None:
        github_id = record.github_id
    await context.stores.reports.record(repo, _TARGET, Published(github_id=github_id, digest=state))
