"""What is to be checked of a pull request: one head commit, under the policy that its base branch's repository has.

It is written once, when the checks are asked for, and never changes: what the request says cannot alter it (T14)."""

from __future__ import annotations

from bot.config import Policy
from bot.model import Model, Repo
from bot.model.pulls import CheckStatus
from bot.model.reasons import Reason

MERGE_GROUP = 0
"""The number under which a merge queue's commits are checked: they are no pull request's head."""


class PullCheckSpec(Model):
    """One run of checks of one head. `only` names the checks to run, empty means all that there are; `kept` are the
    results of an earlier run of the same head that stand."""

    repo: Repo
    number: int
    title: str = ""
    author: str = ""
    head_sha: str
    head_ref: str = ""
    head_repo: str | None = None
    base_ref: str = ""
    base_sha: str = ""
    """The commit to compare with where that is known; else it is the merge base."""
    policy: Policy = Policy()
    only: tuple[str, ...] = ()
    kept: tuple[CheckStatus, ...] = ()
    because: Reason | None = None
    """Who or what asked for it, a sentence."""
    asked: bool = False
    """Whether somebody asked: then it is done whatever drafts, paths, labels or a pause say."""

    @property
    def is_merge_group(self) -> bool:
        """Whether this is what a merge queue is about to merge, and no pull request."""
        return self.number == MERGE_GROUP
