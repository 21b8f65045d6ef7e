"""What a session plans to install in somebody's own tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.workflows.runs.setup_local import plan_in_place

FILES = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\ndependencies = ["requests"]\n',
    "test_app.py": "import requests\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, text in FILES.items():
        (tree / name).write_text(text)
    return tree


def test_a_tree_without_an_environment_gets_one(tree: Path) -> None:
    assert next(step.products for step in plan_in_place(tree, (), None).steps) == (".venv", "node_modules")


@pytest.mark.parametrize("target", [".", "../elsewhere", "gone"])
def test_a_link_in_place_of_the_environment_is_never_followed(tree: Path, target: str) -> None:
    (tree.parent / "elsewhere").mkdir()
    (tree / ".venv").symlink_to(target)
    assert plan_in_place(tree, (), None).steps == ()


def test_an_environment_that_does_not_work_is_not_emptied(tree: Path) -> None:
    (tree / ".venv").mkdir()
    assert plan_in_place(tree, (), None).steps == ()
    assert plan_in_place(tree, (), "rm -rf .venv").steps == ()
