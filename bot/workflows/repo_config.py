"""A repository's policy as its default branch has it now. A broken file leaves the last good one in force (spec K)."""

from __future__ import annotations

import asyncio

from pydantic import ValidationError

from bot.config import POLICY_PATH, Policy, PolicyProblem, parse_policy_file
from bot.github.repository import NoFile, RepositoryClient
from bot.logs import get_logger
from bot.model import Repo
from bot.reports.locale.reasons import english
from bot.rules.reasons import error_reason
from bot.store.runs.reported import Published
from bot.workflows.context import Context

POLICY_TARGET = "policy"
"""Where `store.runs.reported` has the last good configuration, as JSON."""


async def get_policy(context: Context, repo: Repo) -> tuple[Policy, str]:
    """The policy in force and the branch that runs start from.

    Concurrent calls share one read: a burst of labels costs two requests in all."""
    asked, name = context.policy_reads, repo.full_name
    task = asked.get(name)
    if task is None:
        task = asked[name] = asyncio.create_task(_ask(context, repo))
        task.add_done_callback(lambda _: asked.pop(name))
    return await asyncio.shield(task)


async def _ask(context: Context, repo: Repo) -> tuple[Policy, str]:
    client = context.github.repository(repo)
    default = await client.default_branch()
    parsed = await read_policy(client, default)
    kept = await last_good_policy(context, repo)
    if isinstance(parsed, Policy):
        if parsed != kept:
            published = Published(github_id=None, digest=parsed.model_dump_json())
            await context.stores.reports.record(repo, POLICY_TARGET, published)
        return parsed, parsed.base_branch or default
    get_logger().warning(
        "policy_broken", repo=repo.full_name, problems=[f"{item.key}: {english(item.reason)}" for item in parsed]
    )
    policy = kept or Policy()
    return policy, policy.base_branch or default


async def read_policy(client: RepositoryClient, ref: str) -> Policy | tuple[PolicyProblem, ...]:
    """The configuration at a commit or branch, or its problems; the defaults where there is no file."""
    try:
        return parse_policy_file(await client.read_file(POLICY_PATH, ref) or b"")
    except NoFile as error:
        return (PolicyProblem(key="", reason=error_reason(error)),)


async def last_good_policy(context: Context, repo: Repo) -> Policy | None:
    """The last good configuration that was read; None where there was none. One that this version cannot read any more
    counts as none."""
    kept = await context.stores.reports.published(repo, POLICY_TARGET)
    if kept is None:
        return None
    try:
        return Policy.model_validate_json(kept.digest)
    except ValidationError:
        return None
