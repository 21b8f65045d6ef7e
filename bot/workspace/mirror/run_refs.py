"""What a mirror keeps for runs and for pull requests by name: git drops nothing that a ref of ours still names."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from bot.workspace.git.command import git
from bot.workspace.git.objects import decode, encode

_RUNS = ("refs/mendbot/runs/", "refs/mendbot/salvage/")
_PULLS = "refs/mendbot/pulls/"
_BRANCHES = "refs/heads/"


async def open_pulls(mirror: Path) -> frozenset[int]:
    """The pull requests that were checked and of whose end nobody has told; none where there is no mirror."""
    if not mirror.is_dir():
        return frozenset()
    names = (name.removeprefix(_PULLS) for name in await _refs(mirror, _PULLS))
    return frozenset(int(name) for name in names if name.isdecimal())


async def drop_runs(mirror: Path, run_ids: Collection[str], branches: Collection[str]) -> int:
    """Let go of what these runs made in the mirror, and of these branches of ours there; how many refs that were. The
    other side's branches are not touched, and what is absent is fine."""
    if not mirror.is_dir():
        return 0
    own = [name for name in await _refs(mirror, *_RUNS) if name.split("/")[3] in run_ids]
    wanted = {_BRANCHES + branch for branch in branches}
    own += [name for name in await _refs(mirror, _BRANCHES) if name in wanted]
    if own:
        orders = "".join(f"delete {name}\0\0" for name in own)
        await git("update-ref", "--stdin", "-z", git_dir=mirror, stdin=encode(orders))
    return len(own)


async def _refs(mirror: Path, *prefixes: str) -> list[str]:
    return decode(await git("for-each-ref", "--format=%(refname)", *prefixes, git_dir=mirror)).splitlines()
