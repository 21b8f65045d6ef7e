"""The job that checks the pull requests that were open when a newly installed repository became enabled."""

from __future__ import annotations

from bot.logs import get_logger
from bot.model.jobs import JobArgs, StepResult
from bot.workflows.context import Context
from bot.workflows.installations.onboard import NewRepository
from bot.workflows.pulls.sync import sync_pull

MAX_OPEN_PULLS = 20
"""An older pull request is checked with its next event, so that a repository with hundreds of them is not checked for
a day."""

log = get_logger()


async def sync_open_pulls(context: Context, args: JobArgs) -> StepResult:
    """Bring the checks of the open pull requests that changed last to their present state."""
    repo = NewRepository.model_validate(args).repo
    numbers = await context.github.repository(repo).newest_open_pulls(MAX_OPEN_PULLS)
    for number in numbers:
        await sync_pull(context, repo, number)
    log.info("open_pulls_synced", repo=repo.full_name, count=len(numbers))
    return StepResult(done=True)
