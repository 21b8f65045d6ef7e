"""The issue templates of a repository's base branch, for the grouping of its issues."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from bot.errors import MendbotError
from bot.logs import get_logger
from bot.model import Repo
from bot.rules.grouping.template_files import NO_TEMPLATES, Templates, read_templates
from bot.workflows.context import Context
from bot.workflows.git_transfer import transfer
from bot.workspace.mirror import mirror as mirrors
from bot.workspace.mirror.issue_templates import read_issue_templates

FETCH_TIMEOUT_S = 30.0

log = get_logger()


async def get_templates(context: Context, repo: Repo, branch: str) -> Templates:
    """The templates as the mirror has them; none where they can't be read in time, since groups do not depend on them.

    Only a mirror without the branch is fetched. The runs of the group need that in any case."""
    try:
        async with asyncio.timeout(FETCH_TIMEOUT_S):
            mirror = context.mirror(repo)
            commit = await _commit(mirror, branch)
            if commit is None:
                await mirrors.ensure_mirror(mirror)
                await transfer(context, repo, partial(mirrors.fetch, mirror), write=False)
                commit = await _commit(mirror, branch)
            files = {} if commit is None else await read_issue_templates(mirror, commit)
            return await asyncio.to_thread(read_templates, files) if files else NO_TEMPLATES
    except (MendbotError, TimeoutError) as error:
        log.warning("templates_unread", repo=repo.full_name, because=str(error) or "timeout")
        return NO_TEMPLATES


async def _commit(mirror: Path, branch: str) -> str | None:
    if not mirrors.is_complete(mirror):
        return None
    return await mirrors.resolve(mirror, f"refs/remotes/origin/{branch}")
