"""pytest is asked for its tests beside the check, in the sandbox, and the check takes no notice of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bot.model import SandboxMode, ShellCommand
from bot.workspace.checks.named_tests import asking
from bot.workspace.checks.step import run_step
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import open_sandbox

TESTS = """import os


def test_sees_nothing_of_it():
    assert not {'PYTEST_ADDOPTS', 'PYTHONPATH', 'MENDBOT_TEST_NAMES'} & set(os.environ)


def test_fails():
    assert 0
"""


async def asked(
    tree: Path, own: Path, command: str, mode: SandboxMode = "auto"
) -> tuple[int | None, bool, dict[str, str]]:
    """A check's exit code, whether asking did it harm, and the tests that it told of."""

    async def run() -> tuple[int | None, bool, dict[str, str]]:
        box, wanted = await open_sandbox(mode, ()), ShellCommand(run=command, timeout_s=120)
        async with asking(own) as names:
            ended = await run_step("test", wanted, tree, box, grant=names.granted(SandboxGrant()), mask=str)
            answer = names.answer(ended, str)
            log = ended.log.decode()
            return ended.step.exit_code, names.disturbed(log), dict(answer.outcomes) if answer else {}

    return await run()


@pytest.mark.parametrize("options", ["", "-p no:junitxml -p no:terminal"])
async def test_pytest_lists_its_tests_outside_the_tree(tmp_path: Path, options: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "test_a.py").write_text(TESTS)
    code, disturbed, outcomes = await asked(tree, tmp_path / "own", f"python3 -m pytest -p no:cacheprovider {options}")
    assert (code, disturbed) == (1, False)
    assert outcomes == {"test_a.py::test_sees_nothing_of_it": "passed", "test_a.py::test_fails": "failed"}
    assert [path.name for path in tree.iterdir()] == ["test_a.py"]
    assert list((tmp_path / "own").iterdir()) == []


async def test_a_file_that_cannot_be_collected_hides_no_other_test(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "test_a.py").write_text(TESTS)
    (tree / "test_b.py").write_text("import no_such_module\n")
    code, disturbed, outcomes = await asked(tree, tmp_path / "own", "python3 -m pytest -p no:cacheprovider")
    assert (code, disturbed) == (1, False)
    assert (
        outcomes.items() >= {"test_a.py::test_sees_nothing_of_it": "passed", "test_a.py::test_fails": "failed"}.items()
    )


async def test_pytest_on_several_processes_lists_its_tests_once(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "test_a.py").write_text(TESTS)
    # xdist is none of the tools that the sandbox shows
    code, _, outcomes = await asked(tree, tmp_path / "own", f"{sys.executable} -m pytest -n 2", mode="none")
    assert (code, outcomes) == (1, {"test_a.py::test_sees_nothing_of_it": "passed", "test_a.py::test_fails": "failed"})


async def test_a_python_that_cannot_load_the_plugin_is_noticed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "test_a.py").write_text(TESTS)
    _, disturbed, outcomes = await asked(tree, tmp_path / "own", "python3 -I -m pytest -q")
    assert disturbed and outcomes == {}


@pytest.mark.parametrize("instead", ["ln -s /etc/passwd", "mkfifo", "mkdir"])
async def test_whatever_stands_in_the_lists_place_is_no_list(tmp_path: Path, instead: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    code, disturbed, outcomes = await asked(tree, tmp_path / "own", f'{instead} "$MENDBOT_TEST_NAMES"')
    assert (code, disturbed, outcomes) == (0, False, {})
