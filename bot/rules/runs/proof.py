"""What is shown of a change with which all checks passed: its level of proof, and what has to run to decide it
(REQ-PROOF-001). Nothing is taken on trust: an error must have been seen before the change, or without it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

from bot.model import Proof, Validation, ValidationStep
from bot.model.proof import BeforeChange, MutantFigures, ProofLevel, ProofReason, StageWithoutChange
from bot.rules.mutants.generate import can_mutate
from bot.rules.patches.style_findings import about_style, is_style
from bot.rules.runs.pipeline import runs_tests
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState
from bot.rules.tampering.test_source import is_snapshot, is_test

MAX_TESTS_SHOWN = 5
"""Tests and errors that a proof names."""
NOTICED_SHARE = 2 / 3
"""The part of the mutants that the checks must notice for a change to be covered."""

_MAX_ERROR_CHARS = 200
_DOCUMENTS = frozenset({".md", ".mdx", ".rst", ".txt", ".adoc"})

ProofStep = Literal["tests", "mutants", "decide"]


def next_proof_step(spec: RunSpec, state: RunState) -> ProofStep | None:
    """What runs next to decide the level of a change that passes; None once it is decided."""
    if state.proof is not None:
        return None
    if _needs_tests(spec, state):
        return "tests"
    if _level(spec, state)[0] != "proven" and _needs_mutants(state):
        return "mutants"
    return "decide"


def proof_of(spec: RunSpec, state: RunState) -> Proof:
    """The level of the present change with its evidence, from what has run. See `ProofReason` for the reasons:

    `errors_gone`: an error of the base is gone and its check passes. `failing_test`: a test of the change fails without
    it. `mutants`: the checks were green before, and notice enough mutants of the changed lines. All others are
    unproven."""
    level: ProofLevel
    level, because = _level(spec, state)
    before = _before(state)
    if level == "unproven" and state.mutants is not None and _notices_enough(state.mutants):
        level, because = "covered", "mutants"
    tests, errors = _tests(state, because), _errors(state, because)
    return Proof(
        level=level,
        because=because,
        before=before,
        tests=tests[:MAX_TESTS_SHOWN],
        test_count=len(tests),
        errors=errors[:MAX_TESTS_SHOWN],
        error_count=len(errors),
        mutants=state.mutants,
        reproduction=state.reproduction,
    )


def is_proven(state: RunState) -> bool:
    """Whether the present change is proven."""
    return state.proof is not None and state.proof.proven


def falls_short(spec: RunSpec, state: RunState) -> bool:
    """Whether the checks pass, and the repository demands more proof of the change."""
    return state.passed and state.proof is not None and not state.proof.suffices(spec.policy.require_proof)


def test_files(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths of a change that belong to its tests: test files, and whatever lies in a directory of tests."""
    return tuple(path for path in paths if belongs_to_tests(path))


def belongs_to_tests(path: str) -> bool:
    """Whether a file is a test, a snapshot, or anything else in a directory of tests."""
    return is_test(path) or is_snapshot(path) or is_test(str(PurePosixPath(path).parent / "x.py"))


def product_files(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths of a change that are neither tests nor documents."""
    return tuple(
        path for path in paths if not belongs_to_tests(path) and PurePosixPath(path).suffix.lower() not in _DOCUMENTS
    )


def _level(spec: RunSpec, state: RunState) -> tuple[Literal["proven", "unproven"], ProofReason]:
    """The level without regard to mutants, and why."""
    before, kept = _failed_before(state), [made for made in state.made if not made.undone]
    last = state.validations[-1] if state.validations else None
    gone = {index: step for index, step in before.items() if _passes(last, index)}
    mechanical = bool(kept) and all(made.mechanical for made in kept)
    findings = [step for index, step in gone.items() if not runs_tests(state.stages[index])]
    if findings and not (mechanical and all(map(is_style, findings)) and not _asks_for_style(spec, findings)):
        return "proven", "errors_gone"
    if mechanical:
        return "unproven", "style_only" if findings else "unchecked" if _before(state) == "unknown" else "mechanical"
    found = {stage.index: stage for stage in state.without_change or ()}
    if any(_still_fails(state, index, found.get(index)) for index in gone):
        return "proven", "errors_gone"
    if any(_fails_by_tests(state, stage) for stage in found.values()):
        return "proven", "failing_test"
    if any(stage.unsteady for stage in found.values()):
        return "unproven", "unsteady"
    if any(stage.not_reached for stage in found.values()):
        return "unproven", "not_reached"
    if any(stage.not_loaded for stage in found.values()):
        return "unproven", "test_not_loaded"
    if gone:
        return "unproven", "tests_only" if test_files(state.changed_paths) else "luck"
    return "unproven", "luck" if before else _nothing_failed(state)


def _nothing_failed(state: RunState) -> ProofReason:
    """Why nothing is shown where no check failed before the change."""
    if not tests_were_green(state):
        return "unchecked"
    if state.mutants is not None:
        return "few_mutants" if state.mutants.made else "no_mutants"
    if not product_files(state.changed_paths):
        return "no_mutants"
    return "no_test" if _can_all_mutate(state) else "not_measured"


def _needs_tests(spec: RunSpec, state: RunState) -> bool:
    if state.without_change is not None or not any(map(runs_tests, state.stages)):
        return False
    kept = [made for made in state.made if not made.undone]
    if kept and all(made.mechanical for made in kept):
        return False
    if _level(spec, state)[0] == "proven":
        return False
    gone = any(
        _passes(state.validations[-1] if state.validations else None, index) and runs_tests(state.stages[index])
        for index in _failed_before(state)
    )
    written = state.reproduction is not None and state.reproduction.succeeded
    return gone or written or bool(test_files(state.changed_paths))


def _needs_mutants(state: RunState) -> bool:
    kept = [made for made in state.made if not made.undone]
    mechanical = bool(kept) and all(made.mechanical for made in kept)
    return (
        state.mutants is None
        and not mechanical
        # such tests would notice mutants by chance, or by the text of the source
        and not any(stage.unsteady or stage.not_reached for stage in state.without_change or ())
        and tests_were_green(state)
        and any(map(runs_tests, state.stages))
        and _can_all_mutate(state)
    )


def _can_all_mutate(state: RunState) -> bool:
    paths = product_files(state.changed_paths)
    return bool(paths) and all(can_mutate(path) for path in paths)


def _notices_enough(mutants: MutantFigures) -> bool:
    return mutants.made > 0 and mutants.noticed >= mutants.made * NOTICED_SHARE


def _before(state: RunState) -> BeforeChange:
    if _failed_before(state) or any(_has_left(state, index) for index in range(len(state.stages))):
        return "red"
    return "green" if state.baseline is not None and state.baseline.passed else "unknown"


def _failed_before(state: RunState) -> Mapping[int, ValidationStep]:
    """The checks that failed before the change, by their index in the pipeline: on the base or, if that was not
    checked, in an earlier attempt. A check that did not start does not count."""
    earlier = (state.baseline,) if state.baseline is not None else state.validations[:-1]
    return {
        index: step
        for validation in earlier
        for index, step in enumerate(validation.steps)
        if not step.passed and _started(step)
    }


def _started(step: ValidationStep) -> bool:
    return step.cut_short or (step.exit_code is not None and step.could_not_run is None)


def _passes(validation: Validation | None, index: int) -> bool:
    steps = validation.steps if validation else ()
    return index < len(steps) and steps[index].passed and not steps[index].flaky and not steps[index].skipped


def _still_fails(state: RunState, index: int, found: StageWithoutChange | None) -> bool:
    """Whether a check of tests that failed on the base fails in the same way with only the change's test files."""
    if found is None or not found.failed or found.unsteady:
        return False
    before = state.base_errors.get(index, frozenset())
    return not before or not found.errors or not before.isdisjoint(found.errors)


def _fails_by_tests(state: RunState, stage: StageWithoutChange) -> bool:
    """Whether tests fail without the change that did not fail on the base, or were not there."""
    if not stage.failed or stage.not_loaded or stage.unsteady or stage.not_reached:
        return False
    if stage.index not in _failed_before(state) and not _has_left(state, stage.index):
        return True
    return bool(stage.tests) and bool(set(stage.errors) - state.base_errors.get(stage.index, frozenset()))


def _has_left(state: RunState, index: int) -> bool:
    """Whether a check failed on the base with errors that are left alone."""
    steps = state.baseline.steps if state.baseline else ()
    return index < len(steps) and steps[index].tolerated


def tests_were_green(state: RunState) -> bool:
    """Whether all checks passed on the base, but for failures of other checks than tests that are left alone."""
    if state.baseline is None or not state.baseline.passed:
        return False
    return not any(runs_tests(stage) and _has_left(state, index) for index, stage in enumerate(state.stages))


def _asks_for_style(spec: RunSpec, gone: Sequence[ValidationStep]) -> bool:
    """Whether every issue, or the task, is about such findings."""
    findings = [one for step in gone for one in step.annotations]
    texts = [f"{issue.title}\n{issue.body}" for issue in spec.issues] or [spec.task]
    return all(about_style(text, findings) for text in texts)


def _tests(state: RunState, because: ProofReason) -> tuple[str, ...]:
    if because not in ("errors_gone", "failing_test"):
        return ()
    return tuple(dict.fromkeys(name for stage in state.without_change or () for name in stage.tests))


def _errors(state: RunState, because: ProofReason) -> tuple[str, ...]:
    """The errors of the base that are gone, in the tools' own words."""
    if because != "errors_gone":
        return ()
    last = state.validations[-1] if state.validations else None
    gone = [at for at in _failed_before(state) if _passes(last, at)]
    left = {error for at in gone if at in state.left for error in state.left[at].errors}
    texts = (
        state.printed.get(error, error)
        for at in gone
        for error in sorted(state.base_errors.get(at, frozenset()) - left)
    )
    return tuple(dict.fromkeys(text[:_MAX_ERROR_CHARS] for text in texts if text))
