"""*Worktree creation*: what a run and what `manage_worktree create` pay, beside `git worktree add` in the same round.
Copying the directory and a full clone stand beside them, as the two ways of doing without worktrees."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.result import Result, Row, ratio_row
from bot.workspace.mirror.mirror import ensure_mirror, fetch
from bot.workspace.mirror.remote import Remote
from bot.workspace.worktree.run_worktree import ensure_worktree, remove_worktree
from bot.workspace.worktree.worktree_command import manage_worktree

_BRANCH = "main"
_MANY = 10_000
_LIMIT = 1000
_ENV = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_{part}": "bench@localhost" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")},
}


@dataclass(frozen=True, slots=True)
class Size:
    """`files`: how many a repository has, the fewest first; `open_trees`: how many worktrees the last one is made
    beside; `at_once`: how many are asked for in the same moment."""

    rounds: int = 15
    files: tuple[int, ...] = (100, 2400)
    open_trees: int = 200
    at_once: int = 8
    copies: bool = True


@dataclass(slots=True)
class _Scene:
    """A checkout, a mirror of it, and where things are made; `made` gives every one another name."""

    root: Path
    work: Path
    mirror: Path
    made: int = 0
    times: dict[str, list[float]] = field(default_factory=dict)

    def fresh(self) -> int:
        self.made += 1
        return self.made


def measure(size: Size) -> Result:
    """Every way in turn, round by round; what was made is removed before the next, so that each starts alike."""
    rows: list[Row] = []
    shown: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        for count in size.files:
            scene = asyncio.run(_scene(Path(where) / str(count), count))
            asyncio.run(_rounds(scene, size))
            rows += _goals(scene, count)
            shown += _figures(scene, count)
        scene = asyncio.run(_scene(Path(where) / "many", size.files[0]))
        flat, flat_git = asyncio.run(_flat(scene, size))
        rows.append(flat)
        shown.append(flat_git)
        rows.append(asyncio.run(_at_once(scene, size)))
    notes = (
        "A run's worktree hangs off a bare mirror and counts the open ones; `manage_worktree` works on a checkout.",
        "Both write down what they begin, hold a lock over all processes and heal what a crash left; git does not.",
        "Files of 1 to 8 kB, 20 a directory; the page cache is warm; nothing is forced to the disk by any of them.",
    )
    return Result("worktree creation", size.rounds, (*rows, *shown), notes)


async def _scene(root: Path, files: int) -> _Scene:
    work, mirror = root / "repo", root / "mirrors" / "repo.git"
    work.mkdir(parents=True)
    chance = random.Random(files)
    for number in range(files):
        file = work / f"part{number // 20}" / f"file{number}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"{chance.getrandbits(128):032x} {number}\n" for _ in range(chance.randint(30, 220))))
    _git(work, "init", "-q", "-b", _BRANCH)
    _git(work, "add", "-A")
    _git(work, "commit", "-q", "-m", "first")
    _git(work, "repack", "-adq")
    await ensure_mirror(mirror)
    await fetch(mirror, Remote(str(work)))
    return _Scene(root, work, mirror)


def _git(cwd: Path, *args: str) -> None:
    subprocess.run(("git", *args), cwd=cwd, env=_ENV, check=True, capture_output=True)


async def _rounds(scene: _Scene, size: Size) -> None:
    for again in range(size.rounds + 1):
        took = {
            "git": _by_git(scene, scene.mirror),
            "ensure": await _ensured(scene),
            "git on a checkout": _by_git(scene, scene.work),
            "manage": await _managed(scene),
        }
        if size.copies:
            took["cp"] = _timed(scene, lambda to: ("cp", "-a", str(scene.work), str(to)))
            took["clone"] = _timed(scene, lambda to: ("git", "clone", "-q", "--no-local", str(scene.work), str(to)))
        if again:  # the first warms the caches
            for what, seconds in took.items():
                scene.times.setdefault(what, []).append(seconds * 1000)


def _by_git(scene: _Scene, repository: Path) -> float:
    number = scene.fresh()
    path, branch = scene.root / "plain" / str(number), f"plain-{number}"
    start = f"refs/remotes/origin/{_BRANCH}" if repository == scene.mirror else "HEAD"
    took = _run(repository, "git", "worktree", "add", "-q", "-b", branch, str(path), start)
    _git(repository, "worktree", "remove", "--force", str(path))
    _git(repository, "branch", "-q", "-D", branch)
    return took


def _timed(scene: _Scene, command: Callable[[Path], Sequence[str]]) -> float:
    path = scene.root / "copies" / str(scene.fresh())
    path.parent.mkdir(exist_ok=True)
    took = _run(scene.root, *command(path))
    subprocess.run(("rm", "-rf", str(path)), check=True)
    return took


def _run(cwd: Path, *argv: str) -> float:
    began = time.perf_counter()
    subprocess.run(argv, cwd=cwd, env=_ENV, check=True, capture_output=True)
    return time.perf_counter() - began


async def _ensured(scene: _Scene, keep: bool = False) -> float:
    number = scene.fresh()
    path = scene.root / "runs" / str(number) / f"fix-issue-{number}"
    began = time.perf_counter()
    await ensure_worktree(scene.mirror, path, f"fix/issue-{number}", _BRANCH, _LIMIT)
    took = time.perf_counter() - began
    if not keep:
        await remove_worktree(scene.mirror, path)
        _git(scene.mirror, "branch", "-q", "-D", f"fix/issue-{number}")
    return took


async def _managed(scene: _Scene) -> float:
    number = scene.fresh()
    began = time.perf_counter()
    result = await manage_worktree("create", [number], repo=scene.work, max_worktrees=_LIMIT)
    took = time.perf_counter() - began
    if not result.success:
        raise RuntimeError(f"manage_worktree: {result.error}")
    await manage_worktree("cleanup", [number], repo=scene.work)
    _git(scene.work, "branch", "-q", "-D", f"fix/issue-{number}")
    return took


async def _flat(scene: _Scene, size: Size) -> list[Row]:
    """One more worktree beside `open_trees` of them and beside none, a round each in turn: ours, and git's."""
    alone = await _scene(scene.root / "alone", size.files[0])
    for _ in range(size.open_trees):
        await _ensured(scene, keep=True)
    ours: list[float] = []
    theirs: list[float] = []
    for again in range(size.rounds):
        order = (scene, alone) if again % 2 else (alone, scene)  # the later one finds the disk busier
        took = {one.root: (await _ensured(one), _by_git(one, one.mirror)) for one in order}
        ours.append(took[scene.root][0] / took[alone.root][0])
        theirs.append(took[scene.root][1] / took[alone.root][1])
    beside = f"beside {size.open_trees} others : beside none"
    return [
        Row(f"a run's worktree, {beside}", median(ours), "×", "at most", 1.25),
        Row(f"`git worktree add`, {beside}", median(theirs), "×"),
    ]


async def _at_once(scene: _Scene, size: Size) -> Row:
    numbers = [scene.fresh() for _ in range(size.at_once)]
    asked = [manage_worktree("create", [number], repo=scene.work, max_worktrees=_LIMIT) for number in numbers]
    results = await asyncio.gather(*asked)
    failed = sum(not result.success for result in results)
    return Row(f"{size.at_once} asked for at once: failures", failed, "", "at most", 0.0)


def _goals(scene: _Scene, count: int) -> list[Row]:
    goal = 0.75 if count >= 2000 else 1.1
    pairs = (("a run's worktree", "ensure", "git"), ("`manage_worktree` create", "manage", "git on a checkout"))
    theirs = f"`git worktree add`, {count:,} files"
    times = scene.times
    return [ratio_row(f"{ours} : {theirs}", times[one], times[other], "at most", goal) for ours, one, other in pairs]


def _figures(scene: _Scene, count: int) -> list[Row]:
    names = {
        "ensure": "a run's worktree",
        "manage": "`manage_worktree` create",
        "git": "`git worktree add`",
        "cp": "`cp -a` of a checkout",
        "clone": "a full clone",
    }
    found = [(name, scene.times[key]) for key, name in names.items() if key in scene.times]
    return [Row(f"{name}, {count:,} files", median(times), "ms") for name, times in found]
