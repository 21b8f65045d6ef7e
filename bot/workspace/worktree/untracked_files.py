"""What lies in a work tree beside its snapshot: what the ignore rules name, nested repositories, what setup made.
Checks see it and no commit has it: a change that works only with what an agent left there would pass, and then fail for
everybody else."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.files.tree_digest import MADE_BY_TOOLS
from bot.workspace.git.objects import decode
from bot.workspace.git.tree import Tree


@dataclass(frozen=True, slots=True)
class Beginning:
    """A tree as the agents of one attempt find it. `beside` is what lay there beside the snapshot (`Tree.beside`); None
    where the tree is somebody's own, in which not only agents make things."""

    tree: Tree
    snapshot: str
    beside: frozenset[bytes] | None

    @classmethod
    async def of(cls, tree: Tree, snapshot: str, *, own: bool) -> Beginning:
        """The tree made to hold the snapshot; `own`: nobody else works in it. Raises as `Tree.restore`."""
        await tree.restore(snapshot)
        return cls(tree, snapshot, frozenset(await tree.beside(snapshot)) if own else None)

    async def restore(self) -> None:
        """As it was found. Raises as `Tree.restore`, and Transient where something cannot be deleted."""
        await self.tree.restore(self.snapshot)
        await self.clear(self.snapshot)

    async def clear(self, snapshot: str) -> tuple[str, ...]:
        """Delete what lies beside that snapshot and did not lie there before; its paths, without tools' caches.

        What is new in a directory that lay there before stays. Transient where something cannot be deleted."""
        if self.beside is None:
            return ()
        new = [name for name in await self.tree.beside(snapshot) if not _is_known(name, self.beside)]
        for name in new:
            await remove_directory(self.tree.path / decode(name).rstrip("/"))
        return tuple(path for path in map(decode, new) if not MADE_BY_TOOLS.intersection(PurePosixPath(path).parts))


def _is_known(name: bytes, known: Collection[bytes]) -> bool:
    """Whether it is one of these, lies in one, or holds one."""
    parts = name.rstrip(b"/").split(b"/")
    above = (b"/".join(parts[:depth]) + b"/" for depth in range(1, len(parts)))
    return name in known or any(one in known for one in above) or any(one.startswith(name) for one in known)
