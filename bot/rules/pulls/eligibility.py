"""Decides whether a pull request, in its present state on GitHub, is checked: by the configuration and by trust.

The default is to deny: code of an outside contributor waits for `/mendbot ok-to-test`, for one commit only (T9,
T11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.config import Policy
from bot.model.pulls import PullRequest
from bot.model.reasons import Reason
from bot.rules.pulls.path_filter import wanted as path_wanted
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import WRITE_ACCESS, carries

Standing = Literal["closed", "unwanted", "own", "paused", "unconfigured", "filtered", "awaiting", "wanted"]


@dataclass(frozen=True, slots=True)
class EligibilityFacts:
    """What the decision about a head commit needs. `permission` is the author's; None means unknown, which denies.
    `approved_by` commented `ok-to-test` for this very commit. `own`: Mendbot itself pushed the commit. `paths` are
    the changed files, None where they were not read."""

    app_login: str
    repository: str
    permission: str | None = None
    approved_by: str | None = None
    own: bool = False
    paused_by: str | None = None
    paths: Sequence[str] | None = None
    asked_first: bool = False
    """The repository was newly installed and has no configuration yet."""
    sandboxed: bool = True
    """Whether the machine has a sandbox; without one, only the code of people with write access may run."""


@dataclass(frozen=True, slots=True)
class Eligibility:
    standing: Standing
    because: Reason


def judge_eligibility(pull: PullRequest, policy: Policy, facts: EligibilityFacts) -> Eligibility:
    """The first answer that the state, the configuration or trust gives."""
    plain = _plainly(pull, policy, facts)
    if plain is not None:
        return plain
    if (
        policy.pull_requests.paths
        and facts.paths is not None
        and not path_wanted(policy.pull_requests.paths, facts.paths)
    ):
        return Eligibility("filtered", make_reason("pull.filtered"))
    return trust(pull, facts)


def _plainly(pull: PullRequest, policy: Policy, facts: EligibilityFacts) -> Eligibility | None:
    if pull.state == "closed":
        return Eligibility("closed", make_reason("pull.merged" if pull.merged else "pull.closed"))
    if not policy.pull_requests.enabled:
        return Eligibility("unwanted", make_reason("unwanted.off"))
    if carries(pull.labels, policy.skip_label):
        return Eligibility("unwanted", make_reason("unwanted.label", label=policy.skip_label))
    if pull.draft and not policy.pull_requests.drafts:
        return Eligibility("unwanted", make_reason("unwanted.draft"))
    if facts.own:
        return Eligibility("own", make_reason("pull.own"))
    if facts.paused_by is not None:
        return Eligibility("paused", make_reason("unwanted.paused", by=facts.paused_by))
    if facts.asked_first:
        return Eligibility("unconfigured", make_reason("unwanted.unconfigured"))
    return None


def trust(pull: PullRequest, facts: EligibilityFacts) -> Eligibility:
    """Whether the head's code may run: by its author's write access, or by an approval of this commit."""
    if facts.permission in WRITE_ACCESS:
        return Eligibility("wanted", make_reason("pull.access", by=pull.author, permission=facts.permission or ""))
    if _ours(pull, facts):
        return Eligibility("wanted", make_reason("pull.by_mendbot"))
    if not facts.sandboxed:
        return Eligibility("awaiting", make_reason("pull.no_sandbox"))
    if facts.approved_by is not None:
        return Eligibility("wanted", make_reason("pull.approved", by=facts.approved_by, sha=pull.head_sha[:12]))
    return Eligibility("awaiting", make_reason("pull.unapproved", by=pull.author or "?", permission=_shown(facts)))


def _shown(facts: EligibilityFacts) -> str:
    return facts.permission or "?"


def from_fork(pull: PullRequest, repository: str) -> bool:
    """Whether the head is in another repository, or in one that is gone."""
    return from_fork_name(pull.head_repo, repository)


def from_fork_name(head_repo: str | None, repository: str) -> bool:
    """The same, by the full names; GitHub's ignore case."""
    return head_repo is None or head_repo.casefold() != repository.casefold()


def _ours(pull: PullRequest, facts: EligibilityFacts) -> bool:
    """Whether Mendbot opened the pull request, from a branch of the repository, which only people with write access
    can move."""
    return pull.author.casefold() == facts.app_login.casefold() != "" and not from_fork(pull, facts.repository)
