"""Finds and deletes files of a work tree that are in no snapshot: ignored ones, nested repositories, setup's products.
Checks see them and no commit has them. A change that works only with what an agent left there would pass here and fail
for everybody else."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.files.tree_digest import MADE_BY_TOOLS
from bot.workspace.git.objects import decode
from bot.workspace.git.tree import Tree


@dataclass(frozen=True, slots=True)
class StartingTree:
    """A tree at the start of an attempt. `unversioned` are its paths outside the snapshot (`Tree.unversioned`).

    None for a person's own tree, in which not only agents create files."""

    tree: Tree
    snapshot: str
    unversioned: frozenset[bytes] | None

    @classmethod
    async def of(cls, tree: Tree, snapshot: str, *, own: bool) -> StartingTree:
        """Restores the tree to the snapshot; `own`: nobody else works in it. Raises as `Tree.restore`."""
        await tree.restore(snapshot)
        return cls(tree, snapshot, frozenset(await tree.unversioned(snapshot)) if own else None)

    async def restore(self) -> None:
        """Restores the start of the attempt. Raises as `Tree.restore`; Transient where a deletion fails."""
        await self.tree.restore(self.snapshot)
        await self.delete_new(self.snapshot)

    async def delete_new(self, snapshot: str) -> tuple[str, ...]:
        """Deletes paths outside that snapshot that are new, and returns them, without tools' caches.

        New files in a directory that was there before stay. Raises Transient where a deletion fails."""
        if self.unversioned is None:
            return ()
        new = [name for name in await self.tree.unversioned(snapshot) if not _is_known(name, self.unversioned)]
        for name in new:
            await remove_directory(self.tree.path / decode(name).rstrip("/"))
        return tuple(path for path in map(decode, new) if not MADE_BY_TOOLS.intersection(PurePosixPath(path).parts))


def _is_known(name: bytes, known: Collection[bytes]) -> bool:
    """Whether it is one of these, lies in one, or holds one."""
    parts = name.rstrip(b"/").split(b"/")
    above = (b"/".join(parts[:depth]) + b"/" for depth in range(1, len(parts)))
    return name in known or any(one in known for one in above) or any(one.startswith(name) for one in known)
