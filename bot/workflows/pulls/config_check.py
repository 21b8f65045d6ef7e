"""A configuration that does not hold is said where it broke: at the commit of the default branch, or at the head of the
pull request that would break it (spec K). The last good one stays in force meanwhile."""

from __future__ import annotations

from bot.config import POLICY_PATH, Policy, PolicyProblem
from bot.model import Repo
from bot.model.pulls import PullRequest
from bot.model.reasons import Reason
from bot.reports.pulls.unchecked_heads import config_output
from bot.rules.reasons import make_reason
from bot.workflows.context import Context
from bot.workflows.repo_config import get_policy, last_good_policy, read_policy
from bot.workflows.reporting.publisher import CheckRunUpdate, publish_check

CHECK = "config"


async def check_config_at(context: Context, repo: Repo, sha: str) -> Reason:
    """Read the configuration at a commit of the default branch; one neutral check run there tells what is wrong with
    it. A good one is taken over and not remarked on."""
    policy, _ = await get_policy(context, repo)  # takes a good one over
    found = await read_policy(context.github.repository(repo), sha)
    if isinstance(found, Policy):
        return make_reason("config.holds", path=POLICY_PATH)
    return await _publish_problems(context, repo, sha, policy, found)


async def check_config_of_pull(context: Context, repo: Repo, pull: PullRequest, policy: Policy) -> None:
    """The same for the head of a pull request that changes the file; what is in force stays as it is (T14). One that
    only has a broken file from its base did not break it, and is spared the remark."""
    client = context.github.repository(repo)
    found = await read_policy(client, pull.head_sha)
    if not isinstance(found, Policy) and POLICY_PATH in await client.pull_files(pull.number):
        await _publish_problems(context, repo, pull.head_sha, policy, found)


async def _publish_problems(
    context: Context, repo: Repo, sha: str, policy: Policy, problems: tuple[PolicyProblem, ...]
) -> Reason:
    # where no file was there before, "the last good one" would send people looking for it
    in_force = await last_good_policy(context, repo) not in (None, Policy())
    language = context.language(policy)
    conclusion, output = config_output(problems, POLICY_PATH, language, in_force=in_force)
    await publish_check(
        context, repo, CheckRunUpdate(CHECK, sha, f"config-{sha[:10]}", "completed", conclusion, output)
    )
    return make_reason("config.last_good" if in_force else "config.defaults", path=POLICY_PATH)
