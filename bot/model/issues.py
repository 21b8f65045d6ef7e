"""Issues, and the groups of them that one run fixes."""

from __future__ import annotations

from typing import Literal

from bot.model.base import Model
from bot.model.reasons import Reason

GroupBy = Literal["component", "file", "label", "similarity"]


class Issue(Model):
    """An issue as Mendbot reads it."""

    number: int
    title: str
    body: str = ""
    labels: tuple[str, ...] = ()
    author: str = ""
    state: Literal["open", "closed"] = "open"


class Group(Model):
    """Issues that are fixed together, with the reasons in English (spec F)."""

    key: str
    issues: tuple[int, ...]
    suggested_branch: str
    reasons: tuple[str, ...] = ()


class ExplainedGroup(Model):
    """Issues that are fixed together, with the reasons as values."""

    key: str
    issues: tuple[int, ...]
    suggested_branch: str
    reasons: tuple[Reason, ...] = ()
