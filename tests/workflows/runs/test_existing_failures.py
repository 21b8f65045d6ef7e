"""A red base blocks nobody: what the task does not name is left alone, error by error, and never claimed as fixed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.config import Policy
from bot.model import Status
from bot.reports.locale.reasons import english
from bot.rules.runs.state import RunState
from tests.workflows.conftest import NAME, Harness
from tests.workflows.whole_run import Doer, through, writes

AtDesk = Callable[..., Any]

LINT = """\
import pathlib, sys
found = []
for path in sorted(pathlib.Path(".").rglob("*.py")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("import unused"):
            found.append(f"{path}:{number}:1: F401 [*] `{line.split()[1]}` imported but unused")
print("\\n".join(found))
sys.exit(bool(found))
"""
TESTS = """\
import pathlib, unittest

class Sums(unittest.TestCase):
    def test_answer(self):
        self.assertEqual(pathlib.Path("answer.txt").read_text(), "42\\n")

    def test_clock(self):
        self.assertEqual(pathlib.Path("clock.txt").read_text(), "12\\n")
"""
OLD = "import unused_one\n"
POLICY = {
    "checks": {
        "lint": {"command": "python3 tools/lint.py"},
        "test": {"command": "python3 -m unittest -v test_sums"},
    },
    "stop": {"no_progress_threshold": 9},
}


def _furnish(at: Harness, **files: str) -> None:
    tree = {"tools/lint.py": LINT, "test_sums.py": TESTS, "clock.txt": "12\n", "old.py": OLD, "check.py": None}
    at.github.world.push_files(NAME, "main", {**tree, **files}, "Furnish", "ada")


async def _run(at: Harness, deed: Callable[[Path], None], task: str = "The answer is wrong", **more: Any) -> RunState:
    at.hands = [Doer([deed])]
    policy = Policy.model_validate({**POLICY, **more.pop("policy", {})})
    row = at.spec(at.issue(task, ""), policy=policy, **more)
    named = tuple(one.model_copy(update={"title": task, "body": ""}) for one in row.issues)
    assert await at.runs.create("run-1", row.model_copy(update={"issues": named, "max_attempts": 1}))
    return await through(at, "run-1")


def test_a_lint_error_of_the_base_that_the_task_does_not_name_stops_nothing(at_desk: AtDesk) -> None:
    """G-3."""

    async def work(at: Harness) -> None:
        _furnish(at)
        state = await _run(at, writes("42\n"))
        assert state.finished is Status.SUCCESS, (state.stop, state.baseline)
        assert state.baseline is not None
        assert [(step.stage, step.passed, step.tolerated) for step in state.baseline.steps if step.command] == [
            ("lint", True, True),
            ("test", False, False),
        ]
        assert state.proof is not None and state.proof.level == "proven"
        (comment,) = [one.body for one in at.github.world.pulls(NAME)]
        assert "did not work on them" in comment and "unused_one" in comment

    at_desk(work)


def test_a_new_lint_error_fails_beside_those_of_the_base_also_in_the_same_words(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        _furnish(at)

        def deed(tree: Path) -> None:
            (tree / "answer.txt").write_text("42\n")
            (tree / "new").mkdir()
            (tree / "new" / "old.py").write_text(OLD)

        state = await _run(at, deed)
        assert state.finished is Status.FAILED
        assert [step.stage for step in state.validations[-1].steps if not step.passed] == ["lint"]

    at_desk(work)


def test_an_error_that_the_task_names_is_to_be_fixed(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        _furnish(at, **{"answer.txt": "42\n"})
        state = await _run(at, writes("41\n", "note.txt"), "Lint: F401 in old.py")
        assert state.finished is Status.FAILED
        assert state.baseline is not None and not state.baseline.passed

    at_desk(work)


def test_of_two_failing_tests_the_one_that_the_task_does_not_name_may_go_on_failing(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        _furnish(at, **{"clock.txt": "11\n"})
        state = await _run(at, writes("42\n"), "test_answer fails")
        assert state.finished is Status.SUCCESS, state.stop
        assert state.proof is not None and state.proof.level == "proven"
        assert state.validations[-1].steps[-1].tolerated

    at_desk(work)


def test_fixing_only_the_test_that_the_task_does_not_name_is_not_green(at_desk: AtDesk) -> None:
    """REQ-PROOF-002."""

    async def work(at: Harness) -> None:
        _furnish(at, **{"clock.txt": "11\n"})
        state = await _run(at, writes("12\n", "clock.txt"), "test_answer fails")
        assert state.finished is Status.FAILED

    at_desk(work)


def test_where_the_task_names_no_failing_test_all_of_them_are_to_be_fixed(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        _furnish(at, **{"clock.txt": "11\n"})
        state = await _run(at, writes("42\n"), "Something is off")
        assert state.finished is Status.FAILED

    at_desk(work)


def test_a_task_that_is_about_lint_too_leaves_no_failing_test_alone(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        _furnish(at)
        state = await _run(at, writes("", "old.py"), "The answer is wrong, and lint fails")
        assert state.finished is Status.FAILED

    at_desk(work)


def test_what_was_left_alone_is_never_claimed_as_fixed(at_desk: AtDesk) -> None:
    """The base fails in nothing that the task names, so nothing can be shown of the change."""

    async def work(at: Harness) -> None:
        _furnish(at, **{"answer.txt": "42\n"})
        state = await _run(at, writes("", "old.py"), "Say more in the notes")
        assert state.finished is Status.SUCCESS, state.stop
        assert state.proof is not None and state.proof.level == "unproven"

    at_desk(work)


def test_a_test_that_cannot_start_at_the_base_ends_the_run_before_any_agent(at_desk: AtDesk) -> None:
    """G-3."""

    async def work(at: Harness) -> None:
        _furnish(at)
        state = await _run(at, writes("42\n"), policy={"checks": {"test": {"command": "no-such-runner run"}}})
        assert state.stop is not None
        assert state.stop.reason == "cannot_check"
        assert english(state.stop.details).startswith("checks can't run here: no-such-runner is missing")
        assert state.attempt == 0

    at_desk(work)


def test_a_linter_that_cannot_start_at_the_base_is_left_out_while_the_tests_run(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        _furnish(at)
        checks = {**POLICY["checks"], "lint": {"command": "no-such-linter ."}}  # type: ignore[dict-item]
        state = await _run(at, writes("42\n"), policy={"checks": checks})
        assert state.finished is Status.SUCCESS, state.stop
        assert [step.skipped for step in state.validations[-1].steps if step.stage == "lint"] == [True]
        (pull,) = at.github.world.pulls(NAME)
        assert "`lint` could not run before the change either" in pull.body

    at_desk(work)
