"""Changes that look proven, and are not: chance, new names, checks that break before a test runs (REQ-PROOF-001)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.config import Policy
from bot.model.proof import Proof
from tests.workflows.conftest import NAME, Harness
from tests.workflows.whole_run import Doer, through

AtDesk = Callable[..., Any]

BASE = """\
class Calc:
    def add(self, a, b):
        return a - b
"""
WRONG = BASE.replace("a - b", "b - a")
RIGHT = BASE.replace("a - b", "a + b")
GREEN = """\
import unittest

from calc import Calc


class Old(unittest.TestCase):
    def test_zero(self):
        self.assertEqual(Calc().add(0, 0), 0)
"""
POLICY = {"stop": {"no_progress_threshold": 9}}
UNITTEST = "python3 -m unittest -v"


def _test(*body: str) -> str:
    lines = "".join(f"        {line}\n" for line in body)
    return GREEN.replace("Old", "New").replace("        self.assertEqual(Calc().add(0, 0), 0)\n", lines)


def _edits(**files: str) -> Callable[[Path], None]:
    def edit(tree: Path) -> None:
        for name, text in files.items():
            (tree / f"{name}.py").write_text(text)

    return edit


async def _proof(at: Harness, base: dict[str, str], edit: Callable[[Path], None], command: str) -> Proof:
    """The proof of the change of an agent that makes it at once, for the failing test and for the fix."""
    at.github.world.push_files(NAME, "main", {"check.py": None, **base}, "Furnish", "ada")
    at.hands = [Doer([edit])]
    policy = Policy.model_validate({**POLICY, "checks": {"test": {"command": command}}})
    spec = at.spec(at.issue("add() subtracts", ""), policy=policy)
    assert await at.runs.create("run-1", spec.model_copy(update={"max_attempts": 1}))
    state = await through(at, "run-1")
    assert state.proof is not None, (state.stop, state.validations)
    return state.proof


def _is(
    at_desk: AtDesk, level: str, because: str, edit: Callable[[Path], None], command: str = UNITTEST, **base: str
) -> None:
    async def work(at: Harness) -> None:
        files = {"calc.py": BASE, "test_old.py": GREEN, **{f"{name}.py": text for name, text in base.items()}}
        proof = await _proof(at, files, edit, command)
        assert (proof.level, proof.because) == (level, because), proof

    at_desk(work)


def test_a_test_that_fails_without_the_change_and_passes_with_it_proves_it(at_desk: AtDesk) -> None:
    edit = _edits(calc=RIGHT, test_new=_test("self.assertEqual(Calc().add(1, 2), 3)"))
    _is(at_desk, "proven", "failing_test", edit)


def test_a_test_that_passes_only_the_first_time_with_the_change_proves_nothing(at_desk: AtDesk, tmp_path: Path) -> None:
    count = tmp_path / "count"
    body = (
        "from pathlib import Path",
        f"count = Path({str(count)!r})",
        "runs = len(count.read_text()) if count.exists() else 0",
        "count.write_text('.' * (runs + 1))",
        "self.assertEqual(runs + Calc().add(0, 0), 1)",  # the first run shows the fault, the second is the change's
    )
    _is(at_desk, "unproven", "unsteady", _edits(calc=WRONG, test_new=_test(*body)))


@pytest.mark.parametrize(
    ("product", "call"),
    [
        (f"{BASE}\n    def helper(self):\n        pass\n", "self.assertIsNone(Calc().helper())"),
        (BASE.replace("b):", "b, exact=None):"), "self.assertEqual(Calc().add(0, 0, exact=True), 0)"),
    ],
)
def test_a_test_of_something_that_only_the_change_brings_proves_nothing(
    at_desk: AtDesk, product: str, call: str
) -> None:
    _is(at_desk, "unproven", "test_not_loaded", _edits(calc=product, test_new=_test(call)))


def test_a_name_that_the_base_uses_elsewhere_is_none_that_only_the_change_brings(at_desk: AtDesk) -> None:
    report = "def report(calc):\n    return calc.total()\n"
    body = ("from report import report", "self.assertEqual(report(Calc()), 0)")
    edit = _edits(calc=f"{BASE}\n    def total(self):\n        return 0\n", test_new=_test(*body))
    _is(at_desk, "proven", "failing_test", edit, report=report)


def test_mutants_that_no_test_can_load_count_for_nothing(at_desk: AtDesk) -> None:
    own = f"{BASE}\n\nTABLE = [1, 2]\nassert TABLE[0] == 1\nassert TABLE[1] == 2\n"
    _is(at_desk, "unproven", "no_mutants", _edits(calc=own))


def test_a_script_of_the_check_with_assertions_is_a_test_whatever_its_name(at_desk: AtDesk) -> None:
    script = "from calc import Calc\nassert Calc().add({}, 0) == {}\n".format
    edit = _edits(calc=RIGHT, verify=script(1, 1) + "assert Calc().add(1, 2) == 3\n")
    _is(at_desk, "proven", "failing_test", edit, "python3 verify.py", verify=script(1, 1))


def test_a_script_of_the_check_that_expects_what_the_fault_gives_proves_nothing(at_desk: AtDesk) -> None:
    script = "from calc import Calc\nassert Calc().add(1, 2) == {}\n".format
    _is(at_desk, "unproven", "luck", _edits(verify=script(-1)), "python3 verify.py", verify=script(3))


def test_a_program_without_assertions_that_the_check_runs_is_none(at_desk: AtDesk) -> None:
    program = "print(1 / {})\n".format
    _is(at_desk, "proven", "errors_gone", _edits(main=program(1)), "python3 main.py", main=program(0))
