"""Kept dependencies have a budget: the least used goes first, nothing in use goes, and a crash leaves nothing half."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.workspace.dependencies.cache import drop_head_entries, entry_lock
from bot.workspace.dependencies.disk_budget import remove_unfinished, trim
from bot.workspace.files.home_directories import MARK
from tests.machine import PATIENCE_S
from tests.workspace.sandbox.sandboxed_commands import ROOT
from tests.workspace.setup_steps import MADE, cache, ran, set_up, step, tree

FREE = 0
FILES = 400


async def filled(home: Path, *names: str) -> list[Path]:
    """An entry for each name, the first used longest ago."""
    found: list[Path] = []
    for number, name in enumerate(names):
        await set_up(tree(home / name, {"lock": name}), cache(home))
        (fresh,) = {path.parent for path in (home / "dependencies").rglob("manifest.json")} - set(found)
        used = time.time() - 86_400 + number
        os.utime(fresh / "manifest.json", (used, used))
        found.append(fresh)
    return found


def there(entries: list[Path]) -> list[bool]:
    return [entry.is_dir() for entry in entries]


def one_size(entry: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in (entry / "0", *(entry / "0").rglob("*")))


async def test_what_was_used_least_recently_goes_first(tmp_path: Path) -> None:
    entries = await filled(tmp_path, "a", "b", "c")
    size = one_size(entries[0])
    assert ran(await set_up(tree(tmp_path / "again", {"lock": "a"}), cache(tmp_path))) == [False]  # `a` is used again
    assert await trim(tmp_path / "dependencies", budget=2 * size, free=FREE)
    assert there(entries) == [True, False, True]
    assert await trim(tmp_path / "dependencies", need=size, budget=2 * size, free=FREE)
    assert there(entries) == [True, False, False]
    assert not await trim(tmp_path / "dependencies", need=size + 1, budget=size, free=FREE)
    assert there(entries) == [False, False, False]


async def test_the_disk_keeps_its_room_and_what_nobody_uses_goes(tmp_path: Path) -> None:
    entries = await filled(tmp_path, "a", "b")
    assert await trim(tmp_path / "dependencies", free=FREE)
    assert there(entries) == [True, True]
    os.utime(entries[0] / "manifest.json", (1_000_000, 1_000_000))
    assert await trim(tmp_path / "dependencies", free=FREE)
    assert there(entries) == [False, True]
    assert not await trim(tmp_path / "dependencies", free=1 << 60)
    assert there(entries) == [False, False]


async def test_nothing_in_use_goes(tmp_path: Path) -> None:
    entries = await filled(tmp_path, "a", "b")

    async def held() -> bool:
        async with entry_lock(entries[0].parent, entries[0].name):
            return await trim(tmp_path / "dependencies", budget=0, free=FREE)

    assert not await held()
    assert there(entries) == [True, entries[0].name[:2] == entries[1].name[:2]]


async def test_a_directory_without_the_mark_is_not_touched(tmp_path: Path) -> None:
    entries = await filled(tmp_path, "a")
    (tmp_path / "dependencies" / MARK).unlink()
    half = entries[0].with_name(f".{entries[0].name}.new-0a")
    half.mkdir()
    await trim(tmp_path / "dependencies", budget=0, free=FREE)
    assert await remove_unfinished(tmp_path / "dependencies") == 0
    assert there([*entries, half]) == [True, True]


async def test_a_heads_products_go_with_it(tmp_path: Path) -> None:
    for head in ("a" * 40, "b" * 40, ""):
        await set_up(tree(tmp_path / f"tree{head}", {"lock": head}), cache(tmp_path, head))
    await drop_head_entries(cache(tmp_path, "a" * 40))
    await drop_head_entries(cache(tmp_path, "a" * 40))
    await drop_head_entries(cache(tmp_path))
    assert ran(await set_up(tree(tmp_path / "b2", {"lock": "b" * 40}), cache(tmp_path, "b" * 40))) == [False]
    assert ran(await set_up(tree(tmp_path / "base2", {"lock": ""}), cache(tmp_path))) == [False]
    assert ran(await set_up(tree(tmp_path / "a2", {"lock": "a" * 40}), cache(tmp_path, "a" * 40))) == [True]


INSTALL = """
import asyncio, sys
from pathlib import Path
from tests.workspace.setup_steps import set_up, cache, step
from tests.workspace.dependencies.test_disk_budget import MANY
asyncio.run(set_up(Path(sys.argv[2]), cache(Path(sys.argv[1])), MANY))
"""
MANY = step(f"mkdir -p made && for n in $(seq {FILES}); do echo $n > made/$n; done")


@pytest.mark.parametrize("moment", ["new", "half", "given"])
async def test_a_process_that_is_killed_leaves_nothing_half_that_another_is_given(tmp_path: Path, moment: str) -> None:
    given, trees = cache(tmp_path), iter(range(100))
    if moment == "given":
        await set_up(tree(tmp_path / "first"), given, MANY)
    where = tree(tmp_path / f"killed{next(trees)}")
    killed = subprocess.Popen((sys.executable, "-c", INSTALL, str(tmp_path), str(where)), cwd=ROOT)
    deadline = time.monotonic() + PATIENCE_S
    while killed.poll() is None and time.monotonic() < deadline:
        begun = list((tmp_path / "dependencies").glob(f"*/*/.*.{'given' if moment == 'given' else 'new'}-*"))
        if begun and (moment != "half" or len(list(begun[0].glob("0/*"))) > FILES // 10):
            killed.send_signal(signal.SIGKILL)
            break
    assert killed.wait() == -signal.SIGKILL or len(list((where / MADE).iterdir())) == FILES
    for name in ("second", "third"):
        done = await set_up(tree(tmp_path / name), given, MANY)
        assert len(list((tmp_path / name / MADE).iterdir())) == FILES
    assert ran(done) == [False]
    if killed.returncode == -signal.SIGKILL:
        await remove_unfinished(given.directory)
    assert not list((tmp_path / "dependencies").glob("*/*/.*.new-*"))
    assert not list((tmp_path / "dependencies").glob("*/*/.*.given-*"))


async def test_what_somebody_works_on_is_not_swept(tmp_path: Path) -> None:
    (entry,) = await filled(tmp_path, "a")
    half, trash = entry.with_name(f".{entry.name}.new-0a"), entry.with_name(f".{entry.name}.trash-0a")
    half.mkdir()
    trash.mkdir()

    async def held() -> int:
        async with entry_lock(entry.parent, entry.name):
            return await remove_unfinished(tmp_path / "dependencies")

    assert await held() == 0
    assert there([half, trash]) == [True, True]
    assert await remove_unfinished(tmp_path / "dependencies") == 2
    assert there([half, trash, entry]) == [False, False, True]
