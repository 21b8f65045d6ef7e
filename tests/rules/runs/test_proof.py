"""The level of proof of a change, the reason for it, and what has to run to decide it (REQ-PROOF-001)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from bot.model import Issue, Validation
from bot.model.proof import MutantFigures, Proof, ProofLevel, ProofReason, RequiredProof, StageWithoutChange
from bot.rules.runs.proof import (
    MAX_TESTS_SHOWN,
    belongs_to_tests,
    falls_short,
    next_proof_step,
    product_files,
    proof_of,
)
from bot.rules.runs.state import RunState
from tests.rules.runs.proof_states import (
    CRASH,
    GREEN,
    HUNG,
    LINT_STAGE,
    LUCKY,
    MISSING,
    RED,
    UNUSED,
    lint_fails,
    made,
    passing,
    spec,
)

UNTIDY = lint_fails("a.py")
WITH_TEST = ("a.py", "tests/test_a.py")
BASE_ERRORS = {1: frozenset({"E1"})}


def ran(failed: bool = True, errors: tuple[str, ...] = ("E1",), **more: Any) -> tuple[StageWithoutChange, ...]:
    """The tests on the base with only the change's test files."""
    return (StageWithoutChange(index=1, failed=failed, errors=errors if failed else (), **more),)


def figures(noticed: int, made: int) -> MutantFigures:
    return MutantFigures(noticed=noticed, made=made)


PASSED_WITHOUT = ran(failed=False)
LEVELS: tuple[tuple[str, RunState, tuple[Issue, ...], ProofLevel, ProofReason], ...] = (
    ("lint is clean again", passing(UNTIDY), CRASH, "proven", "errors_gone"),
    ("tests fail again without it", passing(RED, without_change=ran()), CRASH, "proven", "errors_gone"),
    (
        "the same error comes again without it",
        passing(RED, without_change=ran(), base_errors=BASE_ERRORS),
        CRASH,
        "proven",
        "errors_gone",
    ),
    ("a check hung before", passing(HUNG, without_change=ran(errors=())), CRASH, "proven", "errors_gone"),
    (
        "an earlier attempt failed on a base without checks",
        passing(None, validations=(RED, GREEN), without_change=ran()),
        CRASH,
        "proven",
        "errors_gone",
    ),
    ("lint by a tool, as asked", passing(UNTIDY, agent="fixers"), UNUSED, "proven", "errors_gone"),
    (
        "its test fails on a green base",
        passing(changed_paths=WITH_TEST, without_change=ran(tests=("test_new",))),
        CRASH,
        "proven",
        "failing_test",
    ),
    (
        "its test fails on the base without a name",
        passing(changed_paths=WITH_TEST, without_change=ran(errors=())),
        CRASH,
        "proven",
        "failing_test",
    ),
    (
        "its test fails on a red base with an error of its own",
        passing(
            RED,
            changed_paths=WITH_TEST,
            without_change=ran(errors=("E9",), tests=("test_new",)),
            base_errors=BASE_ERRORS,
        ),
        CRASH,
        "proven",
        "failing_test",
    ),
    ("two of three mutants noticed", passing(mutants=figures(2, 3)), CRASH, "covered", "mutants"),
    (
        "its test passes without it, but mutants are noticed",
        passing(changed_paths=WITH_TEST, without_change=PASSED_WITHOUT, mutants=figures(5, 5)),
        CRASH,
        "covered",
        "mutants",
    ),
    (
        "its test cannot be loaded without it, but mutants are noticed",
        passing(changed_paths=WITH_TEST, without_change=ran(not_loaded=True), mutants=figures(5, 5)),
        CRASH,
        "covered",
        "mutants",
    ),
    ("too few mutants noticed", passing(mutants=figures(13, 20)), CRASH, "unproven", "few_mutants"),
    ("no mutant could be made", passing(mutants=figures(0, 0)), CRASH, "unproven", "no_mutants"),
    ("a language without mutants", passing(changed_paths=("a.lua",)), CRASH, "unproven", "not_measured"),
    (
        "one of two languages without mutants",
        passing(changed_paths=("a.lua", "a.py")),
        CRASH,
        "unproven",
        "not_measured",
    ),
    ("documents alone", passing(changed_paths=("README.md",)), CRASH, "unproven", "no_mutants"),
    ("no check runs tests", passing(stages=(LINT_STAGE, LINT_STAGE)), CRASH, "unproven", "no_test"),
    ("no check started before", passing(MISSING), CRASH, "unproven", "unchecked"),
    ("the base was not checked", passing(None), CRASH, "unproven", "unchecked"),
    ("it passes when run again", passing(RED, validations=(LUCKY,)), CRASH, "unproven", "luck"),
    ("the tests pass without it", passing(RED, without_change=PASSED_WITHOUT), CRASH, "unproven", "luck"),
    (
        "other errors come without it",
        passing(RED, without_change=ran(errors=("E9",)), base_errors=BASE_ERRORS),
        CRASH,
        "unproven",
        "luck",
    ),
    (
        "its new test fails with it too when run again",
        passing(changed_paths=WITH_TEST, without_change=ran(unsteady=True)),
        CRASH,
        "unproven",
        "unsteady",
    ),
    (
        "a new test that executes nothing of the change",
        passing(changed_paths=WITH_TEST, without_change=ran(not_reached=True)),
        CRASH,
        "unproven",
        "not_reached",
    ),
    ("the failure comes back with it", passing(RED, without_change=ran(unsteady=True)), CRASH, "unproven", "unsteady"),
    ("a tool reformatted, and tests pass", passing(RED, agent="fixers"), CRASH, "unproven", "mechanical"),
    ("a tool reformatted a green base", passing(agent="fixers"), CRASH, "unproven", "mechanical"),
    ("lint by a tool, and the issue is a crash", passing(UNTIDY, agent="fixers"), CRASH, "unproven", "style_only"),
    (
        "lint by a tool, and one of two issues is a crash",
        passing(UNTIDY, agent="fixers"),
        (*UNUSED, *CRASH),
        "unproven",
        "style_only",
    ),
    (
        "the changed tests pass without it",
        passing(RED, changed_paths=WITH_TEST, without_change=PASSED_WITHOUT),
        CRASH,
        "unproven",
        "tests_only",
    ),
    (
        "only a conftest.py changed",
        passing(RED, changed_paths=("conftest.py",), without_change=PASSED_WITHOUT),
        CRASH,
        "unproven",
        "tests_only",
    ),
    (
        "its test cannot be loaded without it",
        passing(changed_paths=WITH_TEST, without_change=ran(not_loaded=True), mutants=figures(0, 5)),
        CRASH,
        "unproven",
        "test_not_loaded",
    ),
)


@pytest.mark.parametrize(
    ("state", "issues", "level", "because"), [pytest.param(*row, id=name) for name, *row in LEVELS]
)
def test_each_change_has_its_level_and_the_reason(
    state: RunState, issues: tuple[Issue, ...], level: ProofLevel, because: ProofReason
) -> None:
    """REQ-PROOF-001."""
    proof = proof_of(spec(issues), state)
    assert (proof.level, proof.because) == (level, because)


def test_the_table_has_every_reason() -> None:
    assert {because for *_, because in LEVELS} == set(get_args(ProofReason))


def test_a_replay_that_was_undone_has_no_part_in_what_is_shown() -> None:
    undone = replace(made("history"), undone=True)
    state = passing(UNTIDY, validations=(RED, GREEN), made=(undone, made("fixers", 2)), attempt=2)
    assert proof_of(spec(), state).because == "style_only"


@pytest.mark.parametrize(
    ("baseline", "before"), [(GREEN, "green"), (RED, "red"), (UNTIDY, "red"), (MISSING, "unknown"), (None, "unknown")]
)
def test_the_checks_before_the_change_are_part_of_the_proof(baseline: Validation | None, before: str) -> None:
    assert proof_of(spec(), passing(baseline)).before == before


def test_the_evidence_names_the_tests_and_the_errors_that_are_gone() -> None:
    tests = tuple(f"test_{number}" for number in range(MAX_TESTS_SHOWN + 2))
    state = passing(
        RED,
        without_change=ran(tests=tests),
        base_errors={1: frozenset({"E1", "E2"})},
        printed={"E1": "KeyError: 'a'"},
    )
    proof = proof_of(spec(), state)
    assert (proof.tests, proof.test_count) == (tests[:MAX_TESTS_SHOWN], len(tests))
    assert (proof.errors, proof.error_count) == (("KeyError: 'a'", "E2"), 2)
    unproven = proof_of(spec(), replace(state, without_change=PASSED_WITHOUT))
    assert (unproven.tests, unproven.errors) == ((), ())


@pytest.mark.parametrize(
    ("required", "level", "enough"),
    [
        ("none", "unproven", True),
        ("covered", "unproven", False),
        ("covered", "covered", True),
        ("covered", "proven", True),
        ("proven", "covered", False),
        ("proven", "proven", True),
    ],
)
def test_a_level_suffices_for_itself_and_for_weaker_demands(
    required: RequiredProof, level: ProofLevel, enough: bool
) -> None:
    proof = Proof(level=level, because="luck", before="red")
    assert proof.suffices(required) is enough
    wanted = spec().model_copy(update={"policy": spec().policy.model_copy(update={"require_proof": required})})
    assert falls_short(wanted, passing(proof=proof)) is not enough
    assert not falls_short(wanted, passing(proof=None)), "nothing is decided yet"
    assert not falls_short(wanted, passing(proof=proof, validations=(RED,))), "the checks fail"


# ---- what has to run


@pytest.mark.parametrize(
    ("state", "step_kind"),
    [
        (passing(UNTIDY), "decide"),
        (passing(RED), "tests"),
        (passing(RED, without_change=ran()), "decide"),
        (passing(RED, without_change=PASSED_WITHOUT), "decide"),
        (passing(), "mutants"),
        (passing(mutants=figures(1, 5)), "decide"),
        (passing(changed_paths=WITH_TEST), "tests"),
        (passing(changed_paths=WITH_TEST, without_change=ran()), "decide"),
        (passing(changed_paths=WITH_TEST, without_change=PASSED_WITHOUT), "mutants"),
        (passing(changed_paths=WITH_TEST, without_change=ran(unsteady=True)), "decide"),
        (passing(changed_paths=WITH_TEST, without_change=ran(not_reached=True)), "decide"),
        (passing(changed_paths=("a.lua",)), "decide"),
        (passing(stages=(LINT_STAGE,)), "decide"),
        (passing(MISSING), "decide"),
        (passing(RED, agent="fixers"), "decide"),
        (passing(agent="fixers"), "decide"),
        (passing(proof=Proof(level="proven", because="errors_gone", before="red")), None),
    ],
)
def test_only_what_can_change_the_level_runs(state: RunState, step_kind: str | None) -> None:
    assert next_proof_step(spec(), state) == step_kind


# ---- which files are tests


def test_whatever_lies_in_a_directory_of_tests_belongs_to_the_tests() -> None:
    tests = ("conftest.py", "tests/data.json", "src/a_test.go", "__tests__/a.js", "tests/sub/helper.py")
    assert all(map(belongs_to_tests, tests))
    assert product_files((*tests, "a.py", "src/a.go", "README.md", "docs/x.rst")) == ("a.py", "src/a.go")
