"""Reports an invalid configuration where it was introduced: at the commit of the default branch, or at the head of a
pull request (spec K). The last valid one stays in force meanwhile."""

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
    """Read the configuration at a commit of the default branch. A neutral check run there lists its problems; a valid
    one comes into force without a report."""
    policy, _ = await get_policy(context, repo)  # puts a valid one into force
    found = await read_policy(context.github.repository(repo), sha)
    if isinstance(found, Policy):
        return make_reason("config.holds", path=POLICY_PATH)
    return await _publish_problems(context, repo, sha, policy, found)


async def check_config_of_pull(context: Context, repo: Repo, pull: PullRequest, policy: Policy) -> None:
    """Report the problems at the head of a pull request that changes the file; the configuration in force stays (T14).
    A pull request that inherits an invalid file from its base gets no report."""
    client = context.github.repository(repo)
    found = await read_policy(client, pull.head_sha)
    if not isinstance(found, Policy) and POLICY_PATH in await client.pull_files(pull.number):
        await _publish_problems(context, repo, pull.head_sha, policy, found)


async def _publish_problems(
    context: Context, repo: Repo, sha: str, policy: Policy, problems: tuple[PolicyProblem, ...]
) -> Reason:
    # without an earlier file "the last good one" would make people look for it
    in_force = await last_good_policy(context, repo) not in (None, Policy())
    language = context.language(policy)
    conclusion, output = config_output(problems, POLICY_PATH, language, in_force=in_force)
    await publish_check(
        context, repo, CheckRunUpdate(CHECK, sha, f"config-{sha[:10]}", "completed", conclusion, output)
    )
    return make_reason("config.last_good" if in_force else "config.defaults", path=POLICY_PATH)
