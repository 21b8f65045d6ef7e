"""A configuration that does not hold is said where it broke: at the commit of the default branch, or at the head of the
pull request that would break it (spec K). The last good one stays in force meanwhile."""

from __future__ import annotations

from bot.config import POLICY_PATH, Policy
from bot.model import Repo
from bot.model.pulls import Pull
from bot.reports.pull_heads import config_output
from bot.workflows.context import Context
from bot.workflows.policies import kept_policy, policy_of, read_policy
from bot.workflows.telling import CheckToTell, tell_check

CHECK = "config"


async def judge_policy_at(context: Context, repo: Repo, sha: str) -> str:
    """Read the configuration at a commit of the default branch; one neutral check run there tells what is wrong with
    it. A good one is taken over and not remarked on."""
    policy, _ = await policy_of(context, repo)  # takes a good one over
    return await _judge(context, repo, sha, policy)


async def judge_policy_of_pull(context: Context, repo: Repo, pull: Pull, policy: Policy) -> None:
    """The same for the head of a pull request, which changes nothing about what is in force (T14)."""
    await _judge(context, repo, pull.head_sha, policy)


async def _judge(context: Context, repo: Repo, sha: str, policy: Policy) -> str:
    found = await read_policy(context.github.repository(repo), sha)
    if isinstance(found, Policy):
        return f"{POLICY_PATH} holds"
    in_force = await kept_policy(context, repo) is not None
    language = policy.language or context.settings.language
    conclusion, output = config_output(found, POLICY_PATH, language, in_force=in_force)
    await tell_check(context, repo, CheckToTell(CHECK, sha, f"config-{sha[:10]}", "completed", conclusion, output))
    return f"{POLICY_PATH} has {len(found)} problems; the last good one stays in force"
