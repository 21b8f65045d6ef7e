"""A small Python project with real tests, and an agent that writes a failing test when it is asked for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.model import AgentTask, Proposal
from bot.model.proof import Proof
from bot.rules.runs.state import RunState
from tests.workflows.conftest import NAME, Harness
from tests.workflows.whole_run import go

TESTS = "python3 -m unittest discover -v -s tests -t ."
FAULTY = "def total(items):\n    if not items:\n        return None\n    return sum(items)\n"
RIGHT = "def total(items):\n    if not items:\n        return 0\n    return sum(items)\n"
WRONG = "def total(items):\n    if not items:\n        return 1\n    return sum(items)\n"
FORMATTED = FAULTY.replace("return None", "return (None)")
SUITE = """\
import unittest

from shop import total


class Totals(unittest.TestCase):
    def test_total_of_two(self):
        self.assertEqual(total([1, 2]), 3)
"""
NEW_TEST = "\n    def test_total_of_none(self):\n        self.assertEqual(total([]), 0)\n"
SUITE_WITH_TEST = SUITE + NEW_TEST
PASSING_TEST = SUITE + "\n    def test_total_of_one(self):\n        self.assertEqual(total([1]), 1)\n"
UNLOADED_TEST = SUITE_WITH_TEST.replace("import total", "import count, total")
POLICY: Mapping[str, Any] = {"checks": {"test": {"command": TESTS}}}


@dataclass(slots=True)
class Coder:
    """An agent that writes files: those in `tests`, in turn, where a failing test is asked for, and else those in
    `fixes`; the last ones again and again. Without files it offers nothing. It keeps its tasks."""

    fixes: list[dict[str, str]]
    tests: list[dict[str, str]] = field(default_factory=list)
    name: str = "coder"
    tasks: list[AgentTask] = field(default_factory=list)

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        self.tasks.append(task)
        nth = sum(one.only_test is task.only_test for one in self.tasks) - 1
        answers = self.tests if task.only_test else self.fixes
        files = answers[min(nth, len(answers) - 1)] if answers else {}
        for name, text in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        return Proposal(agent=self.name, offered=bool(files), edited_in_place=bool(files))

    @property
    def for_a_fix(self) -> list[AgentTask]:
        return [task for task in self.tasks if not task.only_test]


def fix(shop: str, **more: str) -> dict[str, str]:
    return {"shop.py": shop, **more}


def written(suite: str) -> dict[str, str]:
    return {"tests/test_shop.py": suite}


async def prove(at: Harness, *agents: Coder, suite: str = SUITE, shop: str = FAULTY, **policy: Any) -> RunState:
    """A run of these agents on that project, to its end."""
    files = {"shop.py": shop, "tests/__init__.py": "", "tests/test_shop.py": suite}
    at.github.world.push_commit(NAME, "main", files, "ada")
    at.hands = list(agents)
    return await go(at, "run-1", policy={**POLICY, **policy})


def proof(state: RunState) -> Proof:
    assert state.proof is not None, (state.stop, state.rejections)
    return state.proof
