"""A repository's policy as its default branch has it now. A broken file leaves the last good one in force (spec K)."""

from __future__ import annotations

import asyncio
import json

import structlog

from bot.config import POLICY_PATH, Policy, parse_policy
from bot.model import Repo
from bot.store.reports import Told
from bot.workflows.context import Context

_TARGET = "policy"


async def policy_of(context: Context, repo: Repo) -> tuple[Policy, str]:
    """The policy in force and the branch that runs start from.

    Who asks while the answer is on its way gets the same one: a burst of labels costs two requests, not two each."""
    asked, name = context.policies_asked_for, repo.full_name
    task = asked.get(name)
    if task is None:
        task = asked[name] = asyncio.create_task(_ask(context, repo))
        task.add_done_callback(lambda _: asked.pop(name))
    return await asyncio.shield(task)


async def _ask(context: Context, repo: Repo) -> tuple[Policy, str]:
    client = context.github.repository(repo)
    default = await client.default_branch()
    parsed = parse_policy(await client.read_file(POLICY_PATH, default) or "")
    kept = await context.stores.reports.told(repo, _TARGET)
    if isinstance(parsed, Policy):
        digest = parsed.model_dump_json()
        if kept is None or kept.digest != digest:
            await context.stores.reports.tell(repo, _TARGET, Told(github_id=None, digest=digest))
        return parsed, parsed.base_branch or default
    structlog.get_logger().warning(
        "policy_broken", repo=repo.full_name, problems=[f"{item.key}: {item.message}" for item in parsed]
    )
    policy = Policy.model_validate(json.loads(kept.digest)) if kept else Policy()
    return policy, policy.base_branch or default
