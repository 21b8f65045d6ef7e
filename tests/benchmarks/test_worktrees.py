"""The benchmark of worktrees makes real ones, in every way it names, and takes away what it made."""

from __future__ import annotations

import math
from pathlib import Path

from benchmarks import worktrees


def test_every_way_is_measured_on_small_repositories() -> None:
    result = worktrees.measure(worktrees.Size(rounds=1, files=(3, 5), open_trees=2, at_once=3))
    assert all(math.isfinite(row.value) for row in result.rows)
    assert sum(row.goal is not None for row in result.rows) == 6
    (failures,) = (row for row in result.rows if "at once" in row.what)
    assert failures.value == 0


async def test_what_a_round_made_is_gone_before_the_next(tmp_path: Path) -> None:
    async def rounds() -> worktrees._Scene:
        scene = await worktrees._scene(tmp_path / "scene", 3)
        await worktrees._rounds(scene, worktrees.Size(rounds=2))
        return scene

    scene = await rounds()
    assert {len(times) for times in scene.times.values()} == {2}
    left = [path for path in scene.root.rglob("file0.txt") if path != scene.work / "part0/file0.txt"]
    assert left == []
    assert list((scene.mirror / "worktrees").iterdir()) == []
