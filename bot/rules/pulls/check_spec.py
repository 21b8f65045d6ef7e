"""The specification of a pull check: one head commit, with the configuration of the repository of its base branch.

It is stored when the checks are requested and never changes: the content of the pull request cannot alter it (T14)."""

from __future__ import annotations

from bot.config import Policy
from bot.model import Model, Repo
from bot.model.pulls import CheckStatus
from bot.model.reasons import Reason

MERGE_GROUP = 0
"""The number of the checks of a merge queue's commits, which belong to no pull request."""


class PullCheckSpec(Model):
    """The checks of one head commit. `only` names the checks to run; empty means all. `kept` are results of an
    earlier run of the same head commit that are still valid."""

    repo: Repo
    number: int
    title: str = ""
    author: str = ""
    head_sha: str
    head_ref: str = ""
    head_repo: str | None = None
    base_ref: str = ""
    base_sha: str = ""
    """The commit to compare with, where it is known; else it is the merge base."""
    policy: Policy = Policy()
    only: tuple[str, ...] = ()
    kept: tuple[CheckStatus, ...] = ()
    because: Reason | None = None
    """Why the checks were requested."""
    asked: bool = False
    """Whether a person requested the checks; drafts, paths, labels and pauses do not prevent them then."""

    @property
    def is_merge_group(self) -> bool:
        """Whether it checks a commit of a merge queue."""
        return self.number == MERGE_GROUP
