"""The sentences on the level of proof: the level first, then the evidence (REQ-PROOF-001, REQ-PROOF-005)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import pytest

from bot.model import Language, Proof, RunView
from bot.model.proof import ProofReason, Reproduction
from bot.reports.runs.proof import is_shown, proof_line, proof_paragraph, proof_title
from bot.rules.reasons import make_reason, quoted
from tests.reports.golden import LANGUAGES
from tests.reports.hostile_texts import EVIL, assert_harmless, evil_proof
from tests.reports.views_proof import COVERED, LINT_PASSES, TEST_FIRST, TEST_PASSES, UNPROVEN, unproven
from tests.reports.views_runs import make_view

LEVELS: Mapping[Language, Mapping[str, tuple[str, str]]] = {
    "en": {
        "proven": ("Proven", "proven"),
        "covered": ("Covered, not proven", "covered, not proven"),
        "unproven": ("Nothing shows that #7 is solved", "unproven"),
    },
    "ko": {
        "proven": ("증명됨", "증명됨"),
        "covered": ("증명되지 않음", "다루지만 증명되지 않음"),
        "unproven": ("해결되었음을 보여 주는 것이 없습니다", "증명되지 않음"),
    },
}
"""The words for each level at the start of a paragraph, and in a title or a line."""


def view(proof: Proof | None) -> RunView:
    return make_view("success").model_copy(update={"proof": proof})


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("proof", [TEST_PASSES, LINT_PASSES, TEST_FIRST, COVERED, UNPROVEN])
def test_every_surface_begins_with_the_level(proof: Proof, language: Language) -> None:
    first, level = LEVELS[language][proof.level]
    assert first in proof_paragraph(view(proof), language).split("**")[1]
    assert level in proof_title(view(proof), language).lower().partition(":" if language == "en" else ".")[0]
    assert level in proof_line(proof, language).partition(".")[0]
    assert "\n" not in proof_title(view(proof), language) + proof_line(proof, language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("because", get_args(ProofReason))
def test_each_reason_has_a_sentence_of_its_own(because: ProofReason, language: Language) -> None:
    sentences = {proof_line(unproven(one), language) for one in get_args(ProofReason)}
    assert proof_line(unproven(because), language) in sentences and len(sentences) == len(get_args(ProofReason))


def test_an_unproven_change_says_how_to_prove_it() -> None:
    assert "a test that fails without this change would show it" in proof_paragraph(view(UNPROVEN), "en")
    several = view(UNPROVEN).model_copy(update={"issues": make_view("success-group").issues})
    assert "Nothing shows that #7, #9 and #12 are solved;" in proof_paragraph(several, "en")
    session = view(UNPROVEN).model_copy(update={"issues": ()})
    assert proof_paragraph(session, "en").startswith("**⚠️ Nothing shows that the task is done;")


def test_the_evidence_names_tests_errors_and_mutants() -> None:
    one = proof_paragraph(view(TEST_PASSES), "en")
    assert "`tests/test_cart.py::test_total_of_none` failed before the change and passes with it." in one
    assert "test_total_of_one` fail without the change and pass with it." in proof_paragraph(view(TEST_FIRST), "en")
    many = proof_paragraph(view(LINT_PASSES), "en")
    assert "E501 Line too long" in many and "and 5 more" in many
    assert "5 of 6 mutants of the changed lines were noticed" in proof_paragraph(view(COVERED), "en")


def test_the_checks_before_the_change_are_named_once() -> None:
    for proof, before in ((TEST_PASSES, "red"), (TEST_FIRST, "green"), (UNPROVEN, "green"), (COVERED, "green")):
        assert proof_paragraph(view(proof), "en").lower().count(f"checks were {before} before") == 1


def test_an_agent_that_gave_no_failing_test_is_named_unless_the_change_is_proven() -> None:
    assert "`command:mend-it`" in proof_paragraph(view(COVERED), "en")
    assert "it changed no test file" in proof_paragraph(view(UNPROVEN), "en")
    asked = Reproduction(agent="x", attempts=2, because=make_reason("reproduction.passes"))
    proven = TEST_PASSES.model_copy(update={"reproduction": asked})
    assert "before any fix" not in proof_paragraph(view(proven), "en")


def test_only_a_proven_change_is_shown() -> None:
    assert is_shown(view(TEST_FIRST)) and not is_shown(view(COVERED)) and not is_shown(view(None))
    assert proof_paragraph(view(None), "en") == proof_title(view(None), "en") == ""


@pytest.mark.parametrize("level", ["proven", "unproven"])
def test_names_of_strangers_stay_harmless(level: str) -> None:
    """T39."""
    hostile = evil_proof("proven" if level == "proven" else "unproven", EVIL)
    assert_harmless(proof_paragraph(view(hostile), "en"))
    errors = hostile.model_copy(update={"because": "errors_gone", "tests": ()})
    assert_harmless(proof_paragraph(view(errors), "en"))
    asked = hostile.model_copy(update={"reproduction": Reproduction(agent="x", attempts=1, because=quoted(EVIL))})
    assert_harmless(proof_paragraph(view(asked.model_copy(update={"level": "covered"})), "en"))
