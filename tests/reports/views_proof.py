"""Levels of proof with their evidence, one for each kind of sentence about them."""

from __future__ import annotations

from bot.model import Proof
from bot.model.proof import MutantFigures, ProofReason, Reproduction
from bot.rules.reasons import make_reason

_NO_TEST = Reproduction(
    agent="command:mend-it",
    attempts=1,
    because=make_reason("agent", agent="command:mend-it", why=make_reason("reproduction.no_test")),
)
_SURVIVORS = ("shop/cart.py:2: return sum(items) → return None",)

TEST_PASSES = Proof(
    level="proven",
    because="errors_gone",
    before="red",
    tests=("tests/test_cart.py::test_total_of_none",),
    test_count=1,
    errors=("assert None == 0",),
    error_count=1,
)
LINT_PASSES = Proof(
    level="proven",
    because="errors_gone",
    before="red",
    errors=("shop/cart.py:3:1: E501 Line too long (140 > 88)", "shop/cart.py:9:1: F401 `os` imported but unused"),
    error_count=7,
)
TEST_FIRST = Proof(
    level="proven",
    because="failing_test",
    before="green",
    tests=("tests/test_cart.py::test_total_of_none", "tests/test_cart.py::test_total_of_one"),
    test_count=2,
    reproduction=Reproduction(
        agent="command:mend-it", attempts=1, tests=("tests/test_cart.py::test_total_of_none",), test_count=1
    ),
)
COVERED = Proof(
    level="covered",
    because="mutants",
    before="green",
    mutants=MutantFigures(noticed=5, made=6, survivors=_SURVIVORS),
    reproduction=_NO_TEST,
)
UNPROVEN = Proof(
    level="unproven",
    because="few_mutants",
    before="green",
    mutants=MutantFigures(noticed=1, made=6, survivors=_SURVIVORS),
    reproduction=_NO_TEST,
)
STYLE_ONLY = Proof(level="unproven", because="style_only", before="red")


def unproven(because: ProofReason) -> Proof:
    """An unproven change with that reason, and the figures that its sentence needs."""
    return UNPROVEN.model_copy(update={"because": because, "reproduction": None})
