"""A repository's policy as its default branch has it now. A broken file leaves the last good one in force (spec K)."""

from __future__ import annotations

import json

import structlog

from bot.config import POLICY_PATH, Policy, parse_policy
from bot.model import Repo
from bot.store.reports import Told
from bot.workflows.context import Context

_TARGET = "policy"


async def policy_of(context: Context, repo: Repo) -> tuple[Policy, str]:
    """The policy in force and the branch that runs start from."""
    client = context.github.repository(repo)
    default = await client.default_branch()
    text = await client.read_file(POLICY_PATH, default)
    parsed = parse_policy(text or "")
    if isinstance(parsed, Policy):
        await context.stores.reports.tell(repo, _TARGET, Told(github_id=None, digest=parsed.model_dump_json()))
        policy = parsed
    else:
        structlog.get_logger().warning(
            "policy_broken", repo=repo.full_name, problems=[f"{item.key}: {item.message}" for item in parsed]
        )
        kept = await context.stores.reports.told(repo, _TARGET)
        policy = Policy.model_validate(json.loads(kept.digest)) if kept else Policy()
    return policy, policy.base_branch or default
