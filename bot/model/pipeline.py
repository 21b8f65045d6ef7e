"""The values of the validation pipeline that events keep: its stages, and what fails before any change."""

from __future__ import annotations

from typing import Literal

from bot.model.base import Model
from bot.model.nouns import ShellCommand

FindingKey = tuple[str, str, str, int]
WhatRan = Literal["compared", "unnamed", "not_before"]
"""Whether the tests of a stage that passed were compared with those before the change: by their names; not so, as the
runner names none; not at all, as none ran before."""


class PipelineStage(Model):
    """One command of the pipeline; a default stage for which the project has none is skipped and recorded as such."""

    name: str
    command: ShellCommand | None = None
    looked_for: tuple[str, ...] = ()
    because: str = ""
    """The file that the command was chosen by, relative to the tree; empty for one that somebody gave."""


class ExistingErrors(Model):
    """The errors of one check that were there before any change and are left alone, as `rules.failures.errors`
    normalises them; `places` are its findings, each as path, rule, message without numbers, and how often."""

    errors: tuple[str, ...] = ()
    places: tuple[FindingKey, ...] = ()
    said: tuple[str, ...] = ()
    """The first of the errors in the tool's own words, for people."""
    named: bool = False
    """The task names others of the check's errors, which are to be fixed."""


class SuiteSummary(Model):
    """The tests that one execution of a check ran: figures, the first failing names and a digest of all. `list` is the
    name of the log that holds the whole list."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    named: bool = False
    failing: tuple[str, ...] = ()
    digest: str = ""
    list: str = ""
