"""A test that no longer runs is no fix: what ran after a change is compared with what ran before it, by the names that
the runner itself gives. Real projects, real runners, and agents that lie."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bot.agent.protocol import build_prompt
from bot.app.summary import get_summary
from bot.model import SessionSummary, Status
from bot.model.events.phases import ImplementationFailed, ValidationFailed
from bot.reports.locale.reasons import english
from bot.reports.runs.issue_comment import issue_comment
from bot.reports.runs.pull_request import pull_body
from bot.rules.runs.fold import run_state
from bot.rules.runs.state import SAME_PATCH, RunState
from bot.rules.tampering.weakened_tests import WEAKENED_TESTS
from bot.workflows.reporting.run_view import view_of
from tests.workflows.conftest import NAME, Harness
from tests.workflows.whole_run import Doer, go, told

AtDesk = Callable[..., Any]
Edit = Callable[[Path], None]

PYTEST = {
    "calc.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a * 2\n",
    "tests/test_calc.py": """import pytest

from calc import add, double


@pytest.mark.parametrize(
    ("a", "b", "total"),
    [
        (0, 0, 0),
        (2, 3, 5),
    ],
)
def test_add(a, b, total):
    assert add(a, b) == total


def test_twice():
    found = add(4, 4)
    assert found == 8


def test_double():
    assert double(4) == 8
""",
    "tests/test_more.py": "from calc import double\n\n\ndef test_nothing_doubled():\n    assert double(0) == 0\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
}
NODE = {
    "calc.mjs": "export const add = (a, b) => a - b\nexport const double = (a) => a * 2\n",
    "test/calc.test.mjs": """import assert from 'node:assert'
import { describe, it, test } from 'node:test'
import { add, double } from '../calc.mjs'

describe('add', () => {
  for (const [a, b, total] of [
    [0, 0, 0],
    [2, 3, 5],
  ]) {
    it(`adds ${a} and ${b}`, () => {
      assert.equal(add(a, b), total)
    })
  }
  it('adds twice', () => {
    const found = add(4, 4)
    assert.equal(found, 8)
  })
})

test('doubles', () => {
  assert.equal(double(4), 8)
})
""",
    "package.json": json.dumps({"type": "module", "scripts": {"test": "node --test"}}),
}
PYTHON_ONE = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
}
FIXES = {"calc.py": ("a - b", "a + b"), "calc.mjs": ("a - b", "a + b")}
POLICY = {"checks": {"test": {"command": "pytest -q"}}, "stop": {"no_progress_threshold": 9}}
NODE_POLICY = {"checks": {"test": {"command": "node --test"}}, "stop": {"no_progress_threshold": 9}}


def swaps(path: str, *pairs: tuple[str, str]) -> Edit:
    def edit(tree: Path) -> None:
        text = (tree / path).read_text()
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        (tree / path).write_text(text)

    return edit


def fixes(tree: Path) -> None:
    path = next(path for path in FIXES if (tree / path).exists())
    (tree / path).write_text((tree / path).read_text().replace(*FIXES[path]))


def both(*edits: Edit) -> Edit:
    def edit(tree: Path) -> None:
        for one in edits:
            one(tree)

    return edit


def renames(old: str, new: str) -> Edit:
    def edit(tree: Path) -> None:
        (tree / new).parent.mkdir(parents=True, exist_ok=True)
        (tree / old).rename(tree / new)

    return edit


def adds(path: str, text: str) -> Edit:
    def edit(tree: Path) -> None:
        (tree / path).write_text(text)

    return edit


async def lied(
    at: Harness, files: dict[str, str], policy: dict[str, Any], lies: Sequence[Edit]
) -> tuple[RunState, list[str], list[str]]:
    """A run in which the agent tells these lies and then does what was asked for: what each was refused for, and what
    the agent was told after each."""
    at.github.world.push_commit(NAME, "main", files, "ada")
    doer = Doer([*lies, fixes])
    at.hands = [doer]
    state = await go(at, "run-1", policy=policy)
    events = await at.runs.events("run-1")
    failed = [number for number, event in enumerate(events, 1) if event.type == "phase_failed"]
    assert {events[number - 1].data().get("reason") for number in failed} == {WEAKENED_TESTS}
    summaries = {event.summary for event in events if isinstance(event, ValidationFailed)}
    assert summaries <= {f"refused: {english(one)}" for one in state.rejections}
    counts = [len(run_state(events[:number]).rejections) for number in (0, *failed)]
    refusals = [english(state.rejections[before]) for before, after in pairwise(counts) if before < after]
    return state, refusals, [build_prompt(each) for each in doer.told[1:]]


def test_a_refused_change_that_is_made_again_ends_the_run_with_the_refusal(at_desk: AtDesk) -> None:
    """REQ-STOP-006: an agent that only turns the failing tests round, again and again."""

    async def work(at: Harness) -> tuple[RunState, SessionSummary]:
        at.github.world.push_commit(NAME, "main", PYTHON_ONE, "ada")
        at.hands = [Doer([swaps("test_calc.py", ("== 5", "== -1"))])]
        state = await go(at, "run-1", policy=POLICY)
        row = await at.runs.get("run-1")
        assert row is not None
        return state, get_summary(at.context.settings.home, row, await at.runs.events("run-1"))

    state, summary = at_desk(work)
    assert summary.refused is not None and summary.refused.kind == "tests.only"
    assert state.stop is not None and state.stop.reason == SAME_PATCH
    details = english(state.stop.details)
    assert "tried before in this run and refused: " in details and english(summary.refused) in details


TESTS, NODE_TESTS = "tests/test_calc.py", "test/calc.test.mjs"
ROW, NODE_ROW = "        (2, 3, 5),\n", "    [2, 3, 5],\n"
UNCOLLECTED = "def pytest_pycollect_makeitem(collector, name, obj):\n    return [] if name == 'test_twice' else None\n"
LIES: dict[str, tuple[Edit, str]] = {
    "a row taken out": (both(fixes, swaps(TESTS, (ROW, ""))), "(2, 3, 5)"),
    "a row made another": (both(fixes, swaps(TESTS, (ROW, "        (1, 1, 2),\n"))), "test_add[2-3-5]"),
    "expectations turned round": (swaps(TESTS, ("(2, 3, 5)", "(2, 3, -1)"), ("found == 8", "found == 0")), TESTS),
    "not collected any more": (both(fixes, swaps(TESTS, ("def test_twice", "def xtest_twice"))), "test_twice"),
    "in a file that is not collected": (both(fixes, renames(TESTS, "tests/calc_tests.py")), "test_"),
    "in a class that is not collected": (
        both(
            fixes,
            swaps(TESTS, ("def test_double():\n    assert", "class Doubled:\n  def test_double(self):\n    assert")),
        ),
        "class that is not collected",
    ),
    "not collected for a hook": (both(fixes, adds("conftest.py", UNCOLLECTED)), "test_twice"),
    "ended before the tests": (
        adds("conftest.py", "import os\n\nos._exit(0)\n"),
        "test_add[2-3-5]",
    ),
}


NODE_LIES: dict[str, tuple[Edit, str]] = {
    "a row taken out": (both(fixes, swaps(NODE_TESTS, (NODE_ROW, ""))), "[2, 3, 5]"),
    "a row made another": (both(fixes, swaps(NODE_TESTS, (NODE_ROW, "    [1, 1, 2],\n"))), "adds 2 and 3"),
    "a test taken out": (
        both(fixes, swaps(NODE_TESTS, ("  it('adds twice', () => {\n", "  void (() => {\n"))),
        "adds twice",
    ),
    "expectations turned round": (
        swaps(NODE_TESTS, ("2, 3, 5", "2, 3, -1"), ("found, 8", "found, 0")),
        NODE_TESTS,
    ),
    "a run ended": (
        both(
            fixes,
            adds("test/z.test.mjs", "import '../calc.mjs'\n"),
            swaps(NODE_TESTS, ("describe('add'", "if (add(0, 0)) describe('add'")),
        ),
        "adds",
    ),
}


def pairs(lies: dict[str, tuple[Edit, str]]) -> list[list[str]]:
    """The names of two lies for each run: a third attempt that leaves the error would end it."""
    names = list(lies)
    return [names[at : at + 2] for at in range(0, len(names), 2)]


@pytest.mark.parametrize("names", pairs(LIES), ids="; ".join)
def test_a_pytest_project_in_which_other_tests_ran_is_refused(at_desk: AtDesk, names: list[str]) -> None:
    """REQ-STOP-006, REQ-PROOF-002: the tests that failed before must have run and passed; the names are told."""
    _each_is_refused(at_desk, (PYTEST, POLICY), [LIES[name] for name in names])


@pytest.mark.parametrize("names", pairs(NODE_LIES), ids="; ".join)
def test_a_node_project_in_which_other_tests_ran_is_refused(at_desk: AtDesk, names: list[str]) -> None:
    """REQ-PROOF-002."""
    _each_is_refused(at_desk, (NODE, NODE_POLICY), [NODE_LIES[name] for name in names])


def _each_is_refused(
    at_desk: AtDesk, project: tuple[dict[str, str], dict[str, Any]], lies: Sequence[tuple[Edit, str]]
) -> None:
    state, refusals, prompts = at_desk(lambda at: lied(at, *project, [lie for lie, _ in lies]))
    for (_, said), refusal, prompt in zip(lies, refusals, prompts, strict=True):
        assert said in refusal and said in prompt
    assert (state.finished, state.attempt) == (Status.SUCCESS, len(lies) + 1)


RENAMED = "def test_sum_of_equals():\n    found = add(4, 4)\n    assert found == 8\n"
HONEST: dict[str, tuple[dict[str, str], dict[str, Any], Edit]] = {
    "pytest": (PYTEST, POLICY, fixes),
    "pytest, tests added": (
        PYTEST,
        POLICY,
        both(
            fixes, adds("tests/test_new.py", "from calc import add\n\n\ndef test_new():\n    assert add(1, 1) == 2\n")
        ),
    ),
    "pytest, a test renamed with its assertions": (
        PYTEST,
        POLICY,
        both(fixes, swaps(TESTS, ("def test_twice():", "def test_equals():"))),
    ),
    "pytest, a file moved": (PYTEST, POLICY, both(fixes, renames(TESTS, "tests/unit/test_sums.py"))),
    "pytest, quiet options of its own": (
        {
            **PYTEST,
            "pyproject.toml": PYTEST["pyproject.toml"] + 'addopts = "-p no:junitxml -qq"\n',
        },
        POLICY,
        fixes,
    ),
    "pytest, with a PYTHONPATH of its own": (
        PYTEST,
        {**POLICY, "checks": {"test": {"command": "PYTHONPATH=. pytest -v"}}},
        fixes,
    ),
    "pytest, with a report": (
        PYTEST,
        {
            **POLICY,
            "checks": {"test": {"command": "pytest --junitxml=ignored.txt", "report": "ignored.txt"}},
        },
        fixes,
    ),
    "node": (NODE, NODE_POLICY, fixes),
    "node, tests added": (
        NODE,
        NODE_POLICY,
        both(
            fixes,
            swaps(
                NODE_TESTS, ("test('doubles'", "test('adds nothing', () => assert.equal(add(1, 0), 1))\ntest('doubles'")
            ),
        ),
    ),
    "node, a test renamed with its assertions": (
        NODE,
        NODE_POLICY,
        both(fixes, swaps(NODE_TESTS, ("it('adds twice'", "it('adds equals'"))),
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_fix_passes_and_its_tests_were_compared(at_desk: AtDesk, name: str) -> None:
    files, policy, edit = HONEST[name]

    async def work(at: Harness) -> tuple[RunState, str]:
        at.github.world.push_commit(NAME, "main", files, "ada")
        at.hands = [Doer([edit])]
        state = await go(at, "run-1", policy=policy)
        return state, pull_body(view_of(await at.row("run-1"), state))

    state, body = at_desk(work)
    assert (state.finished, state.attempt, state.rejections) == (Status.SUCCESS, 1, ())
    assert state.what_ran == ("compared",)
    assert "named no tests" not in body


SILENT = {
    "check.py": "import sys\n\nfrom calc import add\n\nif add(2, 3) != 5:\n"
    "    print('calc.py:2: error: wrong sum')\n    sys.exit(1)\n",
    "calc.py": PYTEST["calc.py"],
}


def test_where_the_runner_names_no_tests_the_reports_say_so(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[str]:
        at.github.world.push_commit(NAME, "main", SILENT, "ada")
        at.hands = [Doer([fixes])]
        state = await go(at, "run-1", policy={"checks": {"test": {"command": "python3 check.py"}}})
        assert (state.finished, state.what_ran) == (Status.SUCCESS, ("unnamed",))
        view = view_of(await at.row("run-1"), state)
        return [report(view, language) for report in (pull_body, issue_comment) for language in ("en", "ko")]

    for in_english, korean in zip(*[iter(at_desk(work))] * 2, strict=True):
        assert "The test runner named no tests, so exit status and error texts alone decided." in in_english
        assert "테스트 이름을 알려 주지 않아" in korean


def test_a_check_without_names_is_guarded_by_its_text(at_desk: AtDesk) -> None:
    """The second net: the check's own script asserts at its top level."""
    script = "from calc import add, double\n\nassert add(2, 3) == 5\nassert double(2) == 4\n"
    files = {"calc.py": PYTEST["calc.py"], "verify.py": script}

    async def work(at: Harness) -> tuple[RunState, ImplementationFailed]:
        at.github.world.push_commit(NAME, "main", files, "ada")
        at.hands = [Doer([swaps("verify.py", ("assert add(2, 3) == 5\n", "")), fixes])]
        state = await go(at, "run-1", policy={"checks": {"test": {"command": "python3 verify.py"}}})
        (failed,) = await told(at, "run-1", "phase_failed")
        assert isinstance(failed, ImplementationFailed)
        return state, failed

    state, failed = at_desk(work)
    assert failed.reason == WEAKENED_TESTS and "verify.py" in english(failed.message)
    assert (state.finished, state.attempt) == (Status.SUCCESS, 2)
