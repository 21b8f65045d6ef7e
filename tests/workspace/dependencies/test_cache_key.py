"""The key of a setup step changes with everything that the step can read, and with nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.setups import SetupStep, WantedProgram
from bot.workspace.dependencies.cache_key import UnknownInput, key_of
from tests.workspace.setup_steps import sandbox, step, tree

READS = ("package.json", "packages/*/package.json", "patches", "requirements*.txt", ".yarn/plugins", "absent")
FILES = {
    "package.json": "{}",
    "packages/a/package.json": "{}",
    "packages/b/package.json": "{}",
    "patches/one.patch": "-a\n+b\n",
    "patches/deep/two.patch": "-a\n+b\n",
    "requirements-dev.txt": "pytest\n",
    ".yarn/plugins/a.cjs": "1\n",
}
OTHERS = {"src/a.js": "1\n", "packages/a/index.js": "2\n", "README.md": "text\n", "node_modules/a/package.json": "{}"}
WORD = st.text(st.characters(codec="utf-8"), max_size=20)


async def key(where: Path, wanted: SetupStep | None = None, env: dict[str, str] | None = None) -> str:
    return key_of(wanted or step(reads=READS), where, await sandbox(), env or {})


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tree(tmp_path / "tree", FILES | OTHERS)


async def test_it_does_not_depend_on_where_the_tree_lies_or_on_other_files(tmp_path: Path, where: Path) -> None:
    before = await key(where)
    for name in OTHERS:
        (where / name).write_text("changed\n")
    assert await key(where) == before
    assert await key(tree(tmp_path / "elsewhere", FILES)) == before


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", [lambda p: p.write_text("!"), lambda p: p.unlink(), lambda p: p.chmod(0o755)])
async def test_it_changes_with_every_file_that_the_step_reads(
    where: Path, name: str, change: Callable[[Path], None]
) -> None:
    before = await key(where)
    change(where / name)
    assert await key(where) != before


@pytest.mark.parametrize(
    "name", ["absent", "packages/c/package.json", "patches/x", "requirements.txt", ".yarn/plugins/b"]
)
async def test_it_changes_with_a_file_that_comes(where: Path, name: str) -> None:
    before = await key(where)
    (where / name).parent.mkdir(parents=True, exist_ok=True)
    (where / name).touch()
    assert await key(where) != before


@given(first=st.tuples(WORD, WORD), second=st.tuples(WORD, WORD))
async def test_two_states_have_one_key_only_if_they_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, first: tuple[str, str], second: tuple[str, str]
) -> None:
    where = tmp_path_factory.mktemp("tree")
    keys = []
    for texts in (first, second):
        for name, text in zip(("a", "b"), texts, strict=True):
            (where / name).write_bytes(text.encode())
        keys.append(await key(where, step(reads=("a", "b"))))
    assert (keys[0] == keys[1]) is (first == second)
    shutil.rmtree(where)


async def test_it_changes_with_the_step_its_programs_and_its_variables(where: Path) -> None:
    plain = step(reads=READS)
    others = [
        plain.model_copy(update={"run": "npm ci"}),
        plain.model_copy(update={"network": True}),
        plain.model_copy(update={"products": ("node_modules",)}),
        plain.model_copy(update={"programs": (WantedProgram(name="pnpm", version="9.1.0"),)}),
        plain.model_copy(update={"programs": (WantedProgram(name="pnpm", version="10.0.0"),)}),
    ]
    keys = [await key(where, one) for one in (plain, *others)] + [await key(where, plain, {"REGISTRY": "other"})]
    assert len(set(keys)) == len(keys)


async def test_it_changes_with_a_program_that_the_command_names(tmp_path: Path, where: Path) -> None:
    tool = tmp_path / "chain/bin/build-it"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    box = replace(await sandbox(), toolchains=(tmp_path / "chain",))
    naming, other = step("build-it --all", reads=READS), step("true", reads=READS)
    before = [key_of(one, where, box, {}) for one in (naming, other)]
    tool.write_text("#!/bin/sh\n# a newer one\n")
    after = [key_of(one, where, box, {}) for one in (naming, other)]
    assert [one == two for one, two in zip(before, after, strict=True)] == [False, True]


async def test_it_changes_with_each_nodejs_that_a_command_may_get(tmp_path: Path, where: Path) -> None:
    """The project decides between Mendbot's and the machine's, which stands behind it on the path."""
    node = tmp_path / "machine" / "node"
    node.parent.mkdir()
    node.write_text("#!/bin/sh\n")
    node.chmod(0o755)
    box = replace(await sandbox(), inherited={"PATH": str(node.parent)})
    before = key_of(step(reads=READS), where, box, {})
    node.write_text("#!/bin/sh\n# a newer one\n")
    assert key_of(step(reads=READS), where, box, {}) != before


async def test_a_link_counts_as_what_it_leads_to(where: Path) -> None:
    (where / "absent").symlink_to("README.md")
    before = await key(where)
    (where / "README.md").write_text("more\n")
    assert await key(where) != before


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "src"])
async def test_a_link_that_leads_elsewhere_leaves_it_unknown(where: Path, target: str) -> None:
    (where / "absent").symlink_to(target)
    with pytest.raises(UnknownInput):
        await key(where)
