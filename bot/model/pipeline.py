"""The validation pipeline of a run: its stages, the results of their commands, and the failures before any change."""

from __future__ import annotations

from typing import Literal

from bot.model.base import CamelModel, Model
from bot.model.checks import Annotation, Classification, CouldNotRun, ShellCommand, ShownFailure
from bot.model.reasons import Reason

FindingKey = tuple[str, str, str, int]
WhatRan = Literal["compared", "unnamed", "not_before"]
"""Whether the tests of a passed stage were compared with those before the change: `compared` by name, `unnamed` where
the runner prints no names, `not_before` where no tests ran before."""


class PipelineStage(Model):
    """One command of the pipeline; a default stage for which the project has no command is recorded as skipped."""

    name: str
    command: ShellCommand | None = None
    looked_for: tuple[Reason, ...] = ()
    because: str = ""
    """The file that the command was chosen by, relative to the tree; empty for a command from a person."""


class SuiteCounts(Model):
    """How many tests there were, as the test runner printed it."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def ran(self) -> int:
        """The tests that passed or failed."""
        return self.passed + self.failed


class ValidationStep(CamelModel):
    """One command of one validation; `stage` is typecheck, lint, test or custom."""

    command: str
    stage: str
    passed: bool
    skipped: bool = False
    exit_code: int | None = None
    timed_out: bool = False
    over_memory_mb: int = 0
    """The memory limit at which it was stopped; 0 where it stayed below."""
    flaky: bool = False
    tolerated: bool = False
    """It shows only failures that the pull request did not cause, which counts as passed (spec H)."""
    duration_ms: int = 0
    output: str = ""
    classification: Classification | None = None
    annotations: tuple[Annotation, ...] = ()
    restored: tuple[str, ...] = ()
    """Files that the check had changed and that were restored after it; the first ones of `restored_count`."""
    restored_count: int = 0
    could_not_run: CouldNotRun | None = None
    """Why the command could not run; the step has failed then."""
    failures: tuple[ShownFailure, ...] = ()
    """The failures that the whole log shows, in its order; the first ones of `failure_count`."""
    failure_count: int = 0
    listed_files: tuple[str, ...] = ()
    """Of a check that failed: files that its log names alone on a line, as `gofmt -l` does."""
    test_counts: SuiteCounts = SuiteCounts()
    """The figures that the test runner printed, of the check `test`."""

    @property
    def cut_short(self) -> bool:
        """Whether it was stopped at a limit before its end, so that failures may be missing from its output."""
        return self.timed_out or self.over_memory_mb > 0


class Validation(CamelModel):
    """The outcome of one pass of the validation pipeline (REQ-RUN-004..006)."""

    passed: bool
    summary: str
    classification: Classification | None = None
    steps: tuple[ValidationStep, ...] = ()


class ExistingErrors(Model):
    """The errors of one check that failed before any change and are left alone, normalised as
    `rules.failures.errors` does it. `places` are its findings: path, rule, message without numbers, and count."""

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
