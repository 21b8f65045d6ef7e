"""Proof: what a run has shown of its change, as a level and the evidence for it (REQ-PROOF-001)."""

from __future__ import annotations

from typing import Literal

from bot.model.base import CamelModel
from bot.model.reasons import Reason

ProofLevel = Literal["proven", "covered", "unproven"]
"""The three levels of REQ-PROOF-001, the strongest first."""

RequiredProof = Literal["proven", "covered", "none"]
"""The level that a repository demands of a change before it is pushed."""

ProofReason = Literal[
    "errors_gone",
    "failing_test",
    "mutants",
    "few_mutants",
    "no_mutants",
    "not_measured",
    "no_test",
    "unchecked",
    "luck",
    "unsteady",
    "not_reached",
    "mechanical",
    "style_only",
    "tests_only",
    "test_not_loaded",
]
"""Why a change has its level (`rules.runs.proof`); the catalog has a sentence for each."""

BeforeChange = Literal["green", "red", "unknown"]
"""The checks before the change: all passed, at least one failed, or none had a result."""


class MutantFigures(CamelModel):
    """How many of the mutants of the changed lines made a check fail. `survivors` are the places of the first others,
    as `path:line: text → text`."""

    noticed: int
    made: int
    survivors: tuple[str, ...] = ()


class Reproduction(CamelModel):
    """The result of asking for a failing test first: what the last agent was, in how many attempts, and the first of
    the `test_count` tests that fail before the change. `because` is why there is none."""

    agent: str
    attempts: int
    tests: tuple[str, ...] = ()
    test_count: int = 0
    because: Reason | None = None

    @property
    def succeeded(self) -> bool:
        return self.because is None


class Proof(CamelModel):
    """The level of proof of a change with its evidence. `tests` failed before the change, or without it, and pass with
    it. `errors` of the base are gone, in the tool's own words. Both hold the first of `test_count` and
    `error_count`."""

    level: ProofLevel
    because: ProofReason
    before: BeforeChange
    tests: tuple[str, ...] = ()
    test_count: int = 0
    errors: tuple[str, ...] = ()
    error_count: int = 0
    mutants: MutantFigures | None = None
    reproduction: Reproduction | None = None
    """What came of asking for a failing test first; None where none was asked for."""

    @property
    def proven(self) -> bool:
        return self.level == "proven"

    def suffices(self, required: RequiredProof) -> bool:
        """Whether a repository that demands this level accepts the change."""
        return required == "none" or self.proven or self.level == required


class StageWithoutChange(CamelModel):
    """A check of the pipeline that ran on the base with only the change's test files. `errors` are the fingerprints
    that it showed, `tests` the tests that failed there and pass with the whole change. `not_loaded`: it failed because
    a test could not be loaded. `unsteady`: what failed there failed with the whole change too, when it ran again.
    `not_reached`: the tests that failed there execute no changed line."""

    index: int
    failed: bool
    errors: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    not_loaded: bool = False
    unsteady: bool = False
    not_reached: bool = False
