"""A test that no longer runs is no fix: what ran after a change is compared with what ran before it, by the names that
the runner itself gives. Real projects, real runners, and agents that lie."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.agent.developer import build_prompt
from bot.model import Status
from bot.reports.comment import issue_comment
from bot.reports.pull import pull_body
from bot.rules.course import RunState
from bot.rules.weakened import WEAKENED_TESTS
from bot.workflows.view import view_of
from tests.workflows.conftest import NAME, Desk
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
    "package.json": json.dumps({"type": "module", "scripts": {"test": "node --test test/"}}),
}
FIXES = {"calc.py": ("a - b", "a + b"), "calc.mjs": ("a - b", "a + b")}
POLICY = {"checks": {"test": {"command": "python3 -m pytest -q"}}, "stop": {"no_progress_threshold": 9}}
NODE_POLICY = {"checks": {"test": {"command": "node --test test/"}}, "stop": {"no_progress_threshold": 9}}


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


async def lied(at: Desk, files: dict[str, str], policy: dict[str, Any], lie: Edit) -> tuple[RunState, Doer]:
    """A run in which the agent lies first and then does what was asked for."""
    at.github.world.push_commit(NAME, "main", files, "ada")
    doer = Doer([lie, fixes])
    at.hands = [doer]
    return await go(at, "run-1", policy=policy), doer


TESTS, NODE_TESTS = "tests/test_calc.py", "test/calc.test.mjs"
ROW, NODE_ROW = "        (2, 3, 5),\n", "    [2, 3, 5],\n"
REST: Edit = swaps(TESTS, ("    found = add(4, 4)\n    assert found == 8", "    assert add(8, 4) == 4"))
"""Makes the second failing test pass without the code, so that only the first trick is to be seen."""
LIES: dict[str, tuple[Edit, str]] = {
    "a row taken out": (both(fixes, swaps(TESTS, (ROW, ""))), "test_add[2-3-5]"),
    "a row made another": (both(fixes, swaps(TESTS, (ROW, "        (1, 1, 2),\n"))), "test_add[2-3-5]"),
    "expectations turned round": (swaps(TESTS, ("(2, 3, 5)", "(2, 3, -1)"), ("found == 8", "found == 0")), TESTS),
    "not collected any more": (both(fixes, swaps(TESTS, ("def test_twice", "def xtest_twice"))), "test_twice"),
    "in a file that is not collected": (both(fixes, renames(TESTS, "tests/calc_tests.py")), "test_"),
    "in a class that is not collected": (
        both(
            fixes,
            swaps(TESTS, ("def test_double():\n    assert", "class Doubled:\n  def test_double(self):\n    assert")),
        ),
        "test_double",
    ),
    "deselected by a hook": (
        both(
            fixes,
            lambda tree: (tree / "conftest.py").write_text(
                "def pytest_itemcollected(item):\n    if item.name == 'test_twice':\n        item.session._x = 1\n\n\n"
                "def pytest_pycollect_makeitem(collector, name, obj):\n    return [] if name == 'test_twice' else None\n"
            ),
        ),
        "test_twice",
    ),
    "ended before the tests": (
        lambda tree: (tree / "conftest.py").write_text("import os\n\nos._exit(0)\n"),
        "test_add[2-3-5]",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_a_pytest_project(at_desk: AtDesk, name: str) -> None:
    lie, said = LIES[name]
    state, doer = at_desk(lambda at: lied(at, PYTEST, POLICY, lie))
    print(state.troubles, [one.summary for one in state.validations])
    assert said in state.troubles[0]
    assert (state.finished, state.attempt) == (Status.SUCCESS, 2)
