"""What is to be checked of a pull request: one head commit, under the policy that its base branch's repository has.

It is written once, when the checks are asked for, and never changes: what the request says cannot alter it (T14)."""

from __future__ import annotations

from bot.config import Policy
from bot.model import Noun, Repo
from bot.model.pulls import PullCheck


class PullSpec(Noun):
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
    policy: Policy = Policy()
    only: tuple[str, ...] = ()
    kept: tuple[PullCheck, ...] = ()
    because: str = ""
    """Who or what asked for it, a sentence."""
    asked: bool = False
    """Whether somebody asked: then it is done whatever drafts, paths, labels or a pause say."""
