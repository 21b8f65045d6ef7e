"""Only some tests of a check run, by real runners in the sandbox."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bot.model import SandboxMode, ShellCommand
from bot.workspace.checks.single_tests import (
    SingleTests,
    SingleTestsRun,
    command_for_files,
    command_for_tests,
    run_single_tests,
)
from bot.workspace.checks.step import StepRun, run_step
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import open_sandbox


def project(tmp_path: Path, files: Mapping[str, str]) -> Path:
    tree = tmp_path / "tree"
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


def command(run: str | tuple[str, ...]) -> ShellCommand:
    return ShellCommand(run=run, timeout_s=120)


async def ran(tree: Path, tests: SingleTests | None, mode: SandboxMode = "auto") -> SingleTestsRun:
    assert tests is not None
    box = await open_sandbox(mode, ())

    async def run(wanted: ShellCommand, grant: SandboxGrant) -> StepRun:
        return await run_step("test", wanted, tree, box, grant=grant, mask=str)

    return await run_single_tests(tests, tree.parent / "own", SandboxGrant(), run, str)


async def outcomes(tree: Path, run: str, tests: Sequence[str]) -> dict[str, str]:
    """The outcomes of the tests by their names, and of all others that ran."""
    ended = await ran(tree, command_for_tests(command(run), tests, tree))
    return {**(ended.suite.outcomes if ended.suite else {}), **ended.outcomes}


PYTEST = {
    "tests/test_a.py": """
import pytest

class TestOf:
    def test_one(self):
        pass

    def test_one_more(self):
        assert 0

@pytest.mark.parametrize("text", ["a b", "x::y", "[z]", "$(touch hacked)", "ü 🚀"])
def test_rows(text):
    assert text != "a b"
""",
    "tests/test_b.py": "def test_two():\n    assert 0\n",
    "Makefile": "test:\n\tcd . && python3 -m pytest -p no:cacheprovider\n",
    "check.sh": "python3 -m pytest -p no:cacheprovider tests\n",
}

NAMES = [
    ("tests/test_a.py::TestOf::test_one", "passed"),
    ("tests/test_a.py::test_rows[a b]", "failed"),
    ("tests/test_a.py::test_rows[x::y]", "passed"),
    ("tests/test_a.py::test_rows[[z]]", "passed"),
    ("tests/test_a.py::test_rows[$(touch hacked)]", "passed"),
    ("tests/test_b.py::test_two", "failed"),
]


@pytest.mark.parametrize("run", ["python3 -m pytest -p no:cacheprovider", "make test", "sh check.sh"])
@pytest.mark.parametrize(("name", "expected"), NAMES)
async def test_pytest_runs_one_test_however_it_is_started(tmp_path: Path, run: str, name: str, expected: str) -> None:
    """REQ-PROOF-006"""
    tree = project(tmp_path, PYTEST)
    assert await outcomes(tree, run, [name]) == {name: expected}
    assert not (tree / "hacked").exists()


async def test_pytest_runs_the_tests_of_a_file(tmp_path: Path) -> None:
    tree = project(tmp_path, PYTEST)
    ended = await ran(tree, command_for_files(command("make test"), ["tests/test_b.py"], tree))
    assert ended.selected and ended.suite is not None
    assert ended.suite.outcomes == {"tests/test_b.py::test_two": "failed"}


async def test_pytest_on_several_processes_runs_one_test(tmp_path: Path) -> None:
    tree = project(tmp_path, PYTEST)
    name = "tests/test_a.py::TestOf::test_one"
    single = command_for_tests(command((sys.executable, "-m", "pytest", "-n", "2")), [name], tree)
    ended = await ran(tree, single, mode="none")  # xdist is none of the tools that the sandbox shows
    assert ended.selected and ended.suite is not None
    assert ended.suite.outcomes == ended.outcomes == {name: "passed"}


async def test_a_file_without_a_selected_test_is_not_imported(tmp_path: Path) -> None:
    tree = project(tmp_path, {**PYTEST, "tests/test_c.py": "open('imported', 'w')\n"})
    await outcomes(tree, "make test", ["tests/test_b.py::test_two"])
    assert not (tree / "imported").exists()


async def test_a_name_as_a_junit_report_gives_it_selects_the_test(tmp_path: Path) -> None:
    tree = project(tmp_path, PYTEST)
    run = ShellCommand(run="python3 -m pytest -p no:cacheprovider --junitxml=r.xml", timeout_s=120, report="r.xml")
    single = command_for_tests(run, ["tests.test_a.TestOf::test_one"], tree)
    assert (await ran(tree, single)).outcomes == {"tests.test_a.TestOf::test_one": "passed"}


async def test_a_selection_that_finds_nothing_has_not_passed(tmp_path: Path) -> None:
    """REQ-PROOF-006"""
    tree = project(tmp_path, PYTEST)
    ended = await ran(tree, command_for_tests(command("make test"), ["tests/test_a.py::test_gone"], tree))
    assert (ended.selected, ended.outcomes, ended.run.step.passed) == (False, {}, False)


async def test_a_python_that_passes_over_the_request_has_not_selected(tmp_path: Path) -> None:
    tree = project(tmp_path, PYTEST)
    ended = await ran(tree, command_for_tests(command("python3 -I -m pytest"), ["tests/test_b.py::test_two"], tree))
    assert not ended.selected


UNITTEST = {
    "tests/__init__.py": "",
    "tests/test_a.py": """
import unittest

class TestOf(unittest.TestCase):
    def test_one(self):
        pass

    def test_one_more(self):
        self.fail()

    def test_documented(self):
        "A line that unittest prints in place of the name."
""",
    "tests/test_b.py": """
import unittest

class TestB(unittest.TestCase):
    def test_two(self):
        self.fail()
""",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tests.test_a.TestOf.test_one", "passed"),
        ("test_one_more (tests.test_a.TestOf.test_one_more)", "failed"),
        ("test_documented (tests.test_a.TestOf.test_documented)", "passed"),
        ("tests.test_b.TestB.test_two", "failed"),
    ],
)
@pytest.mark.parametrize("run", ["python3 -m unittest", "python3 -m unittest discover -q"])
async def test_unittest_runs_one_test(tmp_path: Path, run: str, name: str, expected: str) -> None:
    tree = project(tmp_path, UNITTEST)
    ended = await ran(tree, command_for_tests(command(run), [name], tree))
    assert ended.outcomes == {name: expected}
    assert ended.suite is not None and ended.suite.counts is not None and ended.suite.counts.ran == 1


async def test_unittest_runs_the_tests_of_a_file(tmp_path: Path) -> None:
    tree = project(tmp_path, UNITTEST)
    ended = await ran(tree, command_for_files(command("python3 -m unittest"), ["tests/test_b.py"], tree))
    assert ended.suite is not None and ended.suite.counts is not None
    assert (ended.suite.counts.ran, ended.run.step.passed) == (1, False)


async def test_unittest_without_such_a_test_has_not_passed(tmp_path: Path) -> None:
    tree = project(tmp_path, UNITTEST)
    ended = await ran(tree, command_for_tests(command("python3 -m unittest"), ["tests.test_a.TestOf.test_gone"], tree))
    assert (ended.selected, ended.outcomes) == (False, {})


NODE = {
    "web/test/a.test.js": """
const { test, describe, it } = require('node:test')
const assert = require('node:assert')
test('adds', () => {})
test('adds more', () => assert.equal(1, 2))
test('reads a > b (x) [y] "q" $(touch hacked)', () => {})
describe('sums', () => { it('inner', () => {}); it('other', () => assert.fail()) })
""",
    "web/test/b.test.js": "require('node:test')('in b', () => {})\n",
}
NODE_NAMES = [
    ("adds", "passed"),
    ("web/test/a.test.js › adds more", "failed"),
    ('reads a > b (x) [y] "q" $(touch hacked)', "passed"),
    ("sums › inner", "passed"),
    ("other", "failed"),
]


@pytest.mark.parametrize(
    ("script", "run"),
    [
        ("", "cd web && node --test"),
        ("node --test", ("npm", "--prefix", "web", "test")),
        ("NODE_ENV=test node --test test/*.test.js", "cd web && npm run test"),
    ],
)
@pytest.mark.parametrize(("name", "expected"), NODE_NAMES)
async def test_node_runs_one_test(
    tmp_path: Path, script: str, run: str | tuple[str, ...], name: str, expected: str
) -> None:
    tree = project(tmp_path, {**NODE, "web/package.json": json.dumps({"name": "x", "scripts": {"test": script}})})
    ended = await ran(tree, command_for_tests(command(run), [name], tree))
    assert ended.outcomes == {name: expected}
    assert ended.suite is not None
    others = {"adds", "adds more", "inner", "other", "in b"} - {name.rpartition(" › ")[2]}
    assert not [other for other in others if ended.suite.outcomes.get(other, "skipped") != "skipped"]
    assert not list(tree.rglob("hacked"))


async def test_node_runs_the_tests_of_a_file(tmp_path: Path) -> None:
    tree = project(tmp_path, {**NODE, "web/package.json": '{"scripts": {"test": "node --test"}}'})
    ended = await ran(tree, command_for_files(command("cd web && npm test"), ["web/test/b.test.js"], tree))
    assert ended.suite is not None and ended.suite.named("passed") == ("in b",) and ended.run.step.passed


@pytest.mark.parametrize(
    ("run", "script"),
    [
        ("npm test", "npm run build && node --test"),
        ("npm test", ""),
        ("npm test", "node --test test/*.js"),  # the script before it would be missing
        ("make test", "node --test"),
        ("tox", ""),
        ("cd ../other && node --test", ""),
        ("cd web; node --test", ""),
    ],
)
def test_what_cannot_be_selected_runs_as_a_whole(tmp_path: Path, run: str, script: str) -> None:
    scripts = {"test": script, "pretest": "node build.js"}
    tree = project(tmp_path, {"package.json": json.dumps({"scripts": scripts})})
    assert command_for_tests(command(run), ["adds"], tree) is None


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (("npm", "test"), ("npm", "test", "--", "-g", "(^| )(adds)$")),
        (("pnpm", "-C", "web", "run", "test"), ("pnpm", "-C", "web", "run", "test", "-g", "(^| )(adds)$")),
        (("yarn", "--cwd", "web", "test"), ("yarn", "--cwd", "web", "test", "-g", "(^| )(adds)$")),
        (("env", "-C", "web", "mocha"), ("env", "-C", "web", "mocha", "-g", "(^| )(adds)$")),
        ("cd web && yarn test", "cd web && yarn test -g '(^| )(adds)$'"),
    ],
)
def test_a_package_manager_passes_the_selection_on(
    tmp_path: Path, run: str | tuple[str, ...], expected: str | tuple[str, ...]
) -> None:
    package = '{"scripts": {"test": "c8 mocha"}}'
    tree = project(tmp_path, {"package.json": package, "web/package.json": package})
    single = command_for_tests(command(run), ["adds"], tree)
    assert single is not None and single.command.run == expected


@pytest.mark.parametrize("run", ["tox run", "nox -s tests", "python -m tox"])
def test_pytest_below_a_program_that_hides_the_environment_runs_as_a_whole(tmp_path: Path, run: str) -> None:
    assert command_for_tests(command(run), ["tests/test_a.py::test_b"], tmp_path) is None
