"""A repository's own configuration (spec K): its keys, and how a text becomes a policy or the list of what is wrong.
Nothing here touches a file or the network; `bot.config` offers the same names."""

from __future__ import annotations

from bot.repo_config.agents import AGENT_KINDS, agent_problem
from bot.repo_config.keys import (
    CHECK_TIMEOUTS_S,
    POLICY_PATH,
    VERB_NAMES,
    CheckPolicy,
    ChecksPolicy,
    Policy,
    PolicyProblem,
    PullRequestsPolicy,
    StopPolicy,
)
from bot.repo_config.parse import LONGEST_BYTES, parse_policy, parse_policy_file
from bot.repo_config.schema import policy_schema

__all__ = [
    "AGENT_KINDS",
    "CHECK_TIMEOUTS_S",
    "LONGEST_BYTES",
    "POLICY_PATH",
    "VERB_NAMES",
    "CheckPolicy",
    "ChecksPolicy",
    "Policy",
    "PolicyProblem",
    "PullRequestsPolicy",
    "StopPolicy",
    "agent_problem",
    "parse_policy",
    "parse_policy_file",
    "policy_schema",
]
