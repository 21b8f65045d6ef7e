"""What a setup step made is given to other trees that need the very same, each its own copy, and to nobody else."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from bot.model.setups import SetupPlan, SetupStep
from bot.workspace.dependencies.cache import boot, flush_entries
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import Sandbox
from bot.workspace.setup.install import install
from tests.workspace.sandbox.conftest import box
from tests.workspace.sandbox.sandboxed_commands import passes
from tests.workspace.setup_steps import (
    RANDOM,
    cache,
    carry_out,
    npm_project,
    ran,
    sandbox,
    set_up,
    step,
    tree,
    worktrees,
)

__all__ = ["box"]


def letters(where: Path) -> str:
    return (where / "made/random").read_text()


async def test_a_second_tree_is_given_what_the_first_one_made(tmp_path: Path) -> None:
    one, other = tree(tmp_path / "one"), tree(tmp_path / "other")
    assert ran(await set_up(one, cache(tmp_path))) == [True]
    done = await set_up(other, cache(tmp_path))
    assert ran(done) == [False]
    assert done.steps[0].passed
    assert letters(one) == letters(other)


@pytest.mark.parametrize("change", [{"lock": "2\n"}, {"lock": ""}])
async def test_a_tree_with_another_lock_is_not(tmp_path: Path, change: dict[str, str]) -> None:
    await set_up(tree(tmp_path / "one"), cache(tmp_path))
    assert ran(await set_up(tree(tmp_path / "other", change), cache(tmp_path))) == [True]


async def test_other_repositories_and_other_steps_are_not(tmp_path: Path) -> None:
    await set_up(tree(tmp_path / "one"), cache(tmp_path))
    assert ran(await set_up(tree(tmp_path / "a"), cache(tmp_path, repo="octo/other"))) == [True]
    assert ran(await set_up(tree(tmp_path / "b"), cache(tmp_path), step(f"{RANDOM} # again"))) == [True]
    own = SetupStep(run=RANDOM, because="lock", reads=("lock",), products=("made",))
    assert ran(await set_up(tree(tmp_path / "c"), cache(tmp_path), own)) == [True]
    assert ran(await set_up(tree(tmp_path / "d"), None)) == [True]


async def test_what_a_tree_does_to_its_copy_reaches_no_other(tmp_path: Path, box: Sandbox) -> None:
    plan = SetupPlan(steps=(step("mkdir -p made/bin && echo echo fine > made/bin/tool && chmod +x made/bin/tool"),))
    for name in ("first", "second"):
        where = tree(tmp_path / name)
        await carry_out(plan, where, box, cache(tmp_path))
        vandal = (
            f"echo echo evil > made/bin/tool; mv made/bin made/nib; ls {tmp_path}; echo x > {tmp_path}/dependencies/x"
        )
        await passes(box, where, f"{vandal}; true")
    third = tree(tmp_path / "third")
    assert ran(await carry_out(plan, third, box, cache(tmp_path))) == [False]
    assert await passes(box, third, "made/bin/tool") == "fine\n"
    assert not (tmp_path / "dependencies/x").exists()


async def test_no_two_copies_are_one_file(tmp_path: Path) -> None:
    trees = [tree(tmp_path / name) for name in ("a", "b", "c")]
    for where in trees:
        await set_up(where, cache(tmp_path))
    kept = (tmp_path / "dependencies").rglob("random")
    assert len({path.stat().st_ino for path in [*kept, *(where / "made/random" for where in trees)]}) == 4


async def test_what_a_head_made_serves_that_head_alone(tmp_path: Path) -> None:
    assert ran(await set_up(tree(tmp_path / "head"), cache(tmp_path, "a" * 40))) == [True]
    assert ran(await set_up(tree(tmp_path / "again"), cache(tmp_path, "a" * 40))) == [False]
    assert ran(await set_up(tree(tmp_path / "other"), cache(tmp_path, "b" * 40))) == [True]
    assert ran(await set_up(tree(tmp_path / "base"), cache(tmp_path))) == [True]
    assert letters(tmp_path / "again") == letters(tmp_path / "head")


async def test_a_head_is_given_what_the_default_branch_made(tmp_path: Path) -> None:
    await set_up(tree(tmp_path / "base"), cache(tmp_path))
    assert ran(await set_up(tree(tmp_path / "head"), cache(tmp_path, "a" * 40))) == [False]
    assert letters(tmp_path / "head") == letters(tmp_path / "base")


async def test_two_trees_at_once_install_once(tmp_path: Path) -> None:
    inside, trees = await sandbox(), [tree(tmp_path / name) for name in ("a", "b", "c")]

    async def together() -> list[bool]:
        plan = SetupPlan(steps=(step(),))
        runs = (install(plan, at, inside, grant=SandboxGrant(), cache=cache(tmp_path), mask=str) for at in trees)
        return [done.steps[0].result is not None for done in await asyncio.gather(*runs)]

    assert sorted(await together()) == [False, False, True]
    assert len({letters(where) for where in trees}) == 1


async def test_an_environment_that_is_there_already_is_not_replaced(tmp_path: Path) -> None:
    await set_up(tree(tmp_path / "one"), cache(tmp_path))
    other = tree(tmp_path / "other", {"made/by-hand": "mine\n"})
    assert ran(await set_up(other, cache(tmp_path))) == [True]
    assert (other / "made/by-hand").read_text() == "mine\n"
    assert ran(await set_up(tree(tmp_path / "third"), cache(tmp_path))) == [False]
    assert not (tmp_path / "third/made/by-hand").exists()


@pytest.mark.parametrize(
    "spoilt",
    [
        "echo more >> lock",  # what it read is no longer what the key says
        "rm -r src",
        "mkfifo made/pipe",
        "ln -s /etc made/etc",
        "ln -s ../../elsewhere made/elsewhere",
        "chmod u+s made/random",
        "printf '\\0%s' \"$PWD\" > made/binary",
    ],
)
async def test_what_cannot_serve_another_tree_is_not_kept(tmp_path: Path, spoilt: str) -> None:
    spoiling = step(f"{RANDOM} && {spoilt}")
    for name in ("one", "other"):
        assert ran(await set_up(tree(tmp_path / name, {"src/a": "a"}), cache(tmp_path), spoiling)) == [True]


async def test_a_step_that_fails_leaves_nothing(tmp_path: Path) -> None:
    where, failing = tree(tmp_path / "one"), step(f"{RANDOM} && false")
    plan = SetupPlan(steps=(failing, step()))
    done = await install(plan, where, await sandbox(), grant=SandboxGrant(), cache=cache(tmp_path), mask=str)
    assert done.failed is not None
    assert done.failed.step == failing
    assert len(done.steps) == 1
    assert not list((tmp_path / "dependencies").rglob("random"))


async def test_all_that_a_step_made_is_given_wherever_it_lies(tmp_path: Path) -> None:
    making = step(
        "mkdir -p made packages/a/more/deep && echo 1 > made/1 && echo 2 > packages/a/more/deep/2 && echo 3 > .3"
    )
    for name in ("one", "other"):
        where = tree(tmp_path / name, {"packages/a/source": "s"})
        done = await set_up(where, cache(tmp_path), making)
        assert (where / ".3").read_text() + (where / "packages/a/more/deep/2").read_text() == "3\n2\n"
    assert ran(done) == [False]


async def test_a_link_in_the_way_carries_nothing_out_of_the_tree(tmp_path: Path) -> None:
    making = step("mkdir -p packages/a/made && echo 1 > packages/a/made/1", products=("packages/a/made",))
    await set_up(tree(tmp_path / "one", {"packages/a/s": ""}), cache(tmp_path), making)
    other, outside = tree(tmp_path / "other"), tree(tmp_path / "outside", {"a/s": ""})
    (other / "packages").symlink_to(outside)
    plan = SetupPlan(steps=(making.model_copy(update={"optional": True}),))
    await carry_out(plan, other, await sandbox("bubblewrap"), cache(tmp_path))
    assert not (outside / "a/made").exists()


async def test_a_later_step_builds_on_what_an_earlier_one_was_given(tmp_path: Path) -> None:
    more = step("cat lock >> made/more", reads=("lock",))
    assert ran(await set_up(tree(tmp_path / "one"), cache(tmp_path), step(), more)) == [True, True]
    assert ran(await set_up(tree(tmp_path / "other"), cache(tmp_path), step(), more)) == [False, False]
    assert (tmp_path / "other/made/more").read_text() == "1\n"
    own = SetupStep(run="echo own > made/own", because="lock")
    assert ran(await set_up(tree(tmp_path / "third"), cache(tmp_path), step(), own)) == [False, True]
    assert not list((tmp_path / "dependencies").rglob("own"))


async def test_a_repositorys_own_setup_is_reused_at_the_same_commit_alone(tmp_path: Path) -> None:
    one, other, third, fourth = worktrees(tmp_path, "one", "other", "third", "fourth", files={"src/a": "a\n"})
    own = SetupStep(run=RANDOM, because=".github/mendbot.yml", network=True)
    assert ran(await set_up(one, cache(tmp_path), own, configured=True)) == [True]
    assert ran(await set_up(other, cache(tmp_path), own, configured=True)) == [False]
    assert letters(one) == letters(other)
    (third / "src/a").write_text("b\n")
    assert ran(await set_up(third, cache(tmp_path), own, configured=True)) == [True]
    (fourth / "sub/node_modules").mkdir(parents=True)
    assert ran(await set_up(fourth, cache(tmp_path), own, configured=True)) == [True]


async def test_npm_installs_once_and_the_second_tree_is_its_own(tmp_path: Path) -> None:
    reads = ("**/package.json", "package-lock.json", ".npmrc")
    npm = step(
        "npm install --ignore-scripts --no-package-lock --no-audit --no-fund", reads=reads, products=("node_modules",)
    )
    one, other = npm_project(tmp_path / "one"), npm_project(tmp_path / "other")
    assert ran(await set_up(one, cache(tmp_path), npm)) == [True]
    assert ran(await set_up(other, cache(tmp_path), npm)) == [False]
    (other / "packages/greet/index.js").write_text("module.exports = () => 'here'\n")
    (one / "packages/greet/index.js").write_text("broken(\n")
    (other / "packages/greet/bin.js").chmod(0o755)
    assert await passes(await sandbox(), other, "greet") == "here\n"
    assert os.readlink(other / "node_modules/greet") == "../packages/greet"


async def test_after_a_power_failure_only_what_was_on_the_disk_is_given(tmp_path: Path) -> None:
    await set_up(tree(tmp_path / "one"), cache(tmp_path))
    restarted(tmp_path)
    assert ran(await set_up(tree(tmp_path / "two"), cache(tmp_path))) == [True]
    await flush_entries(tmp_path / "dependencies")
    restarted(tmp_path)
    assert ran(await set_up(tree(tmp_path / "three"), cache(tmp_path))) == [False]


def restarted(home: Path) -> None:
    """As if the entry had been kept before this machine was last started."""
    (path,) = (home / "dependencies").rglob("manifest.json")
    path.write_text(path.read_text().replace(boot(), "another"))


async def test_a_directory_of_somebody_elses_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "dependencies").mkdir()
    (tmp_path / "dependencies/thesis").touch()
    for name in ("one", "other"):
        assert ran(await set_up(tree(tmp_path / name), cache(tmp_path))) == [True]
    assert [path.name for path in (tmp_path / "dependencies").iterdir()] == ["thesis"]


@pytest.mark.parametrize("damage", ["{", '{"tree": "/x"}', None])
async def test_a_damaged_entry_is_no_trouble(tmp_path: Path, damage: str | None) -> None:
    await set_up(tree(tmp_path / "one"), cache(tmp_path))
    (manifest,) = (tmp_path / "dependencies").rglob("manifest.json")
    if damage is None:
        for path in manifest.parent.glob("0/*"):
            path.unlink()
        (manifest.parent / "0").rmdir()
    else:
        manifest.write_text(damage)
    other = tree(tmp_path / "other")
    assert ran(await set_up(other, cache(tmp_path))) == [True]
    assert letters(other)
    assert ran(await set_up(tree(tmp_path / "third"), cache(tmp_path))) == [False]
