"""Compares two git tree objects by content alone: no attribute, driver or setting has an effect.
The change policy and the records depend on it, so a repository must not be able to hide anything from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.workspace.git.command import git
from bot.workspace.git.objects import decode, encode

_PLAIN = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none")
_GITLINK = "160000"


@dataclass(frozen=True, slots=True)
class PathChange:
    """One path's difference. `status` is A, M, D or T (type changed), modes are git's six octal digits (`000000`:
    no such file), `size` is that of the file after, in bytes."""

    path: str
    status: str
    old_mode: str
    new_mode: str
    binary: bool
    size: int


async def changed(git_dir: Path, before: str, after: str) -> tuple[PathChange, ...]:
    """Every path that differs, in git's order; a rename is a deletion and an addition."""
    # run in the git directory: there are no .gitattributes there, which could call a binary file text
    out = await git("diff-tree", "-r", "-z", "--raw", "--numstat", *_PLAIN, *_trees(before, after), git_dir=git_dir)
    fields = out.split(b"\0")[:-1]
    raw: list[tuple[list[bytes], bytes]] = []
    while fields and fields[0].startswith(b":"):
        meta, path = fields[:2]
        del fields[:2]
        raw.append((meta[1:].split(b" "), path))
    binary = {path for added, _, path in (field.split(b"\t", 2) for field in fields) if added == b"-"}
    sizes = await _sizes(
        git_dir, [meta[3] for meta, _ in raw if set(meta[3]) != {ord("0")} and decode(meta[1]) != _GITLINK]
    )
    return tuple(
        PathChange(
            path=decode(path),
            status=decode(meta[4][:1]),
            old_mode=decode(meta[0]),
            new_mode=decode(meta[1]),
            binary=path in binary,
            size=sizes.get(meta[3], 0),
        )
        for meta, path in raw
    )


async def diff(git_dir: Path, before: str, after: str) -> str:
    """The unified diff with three lines of context, prefixes `a/` and `b/`; bytes that are not UTF-8 are replaced."""
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
    out = await git("diff-tree", "-r", "-p", "-U3", *prefixes, *_PLAIN, *_trees(before, after), git_dir=git_dir)
    return out.decode("utf-8", "replace")


async def texts(git_dir: Path, snapshots: Sequence[str], paths: Sequence[str]) -> tuple[dict[str, str], ...]:
    """For each snapshot the text of each of these files in it, by one git process; without those that it has not or
    that are directories or submodules; a symbolic link's is its target. Bytes that are not UTF-8 are replaced."""
    found: tuple[dict[str, str], ...] = tuple({} for _ in snapshots)
    # git takes a name to a line here
    lines = [path for path in paths if "\n" not in path]
    asked = [(one, name, path) for one, name in zip(found, snapshots, strict=True) for path in lines]
    if not asked:
        return found
    names = b"".join(b"%s:%s\n" % (snapshot.encode("ascii"), encode(path)) for _, snapshot, path in asked)
    out = await git("cat-file", "--batch", git_dir=git_dir, stdin=names)
    at = 0
    for of_snapshot, _, path in asked:
        end = out.index(b"\n", at)
        head = out[at:end].split(b" ")
        at = end + 1
        if head[-1] in (b"missing", b"ambiguous") or len(head) != 3:
            continue
        size = int(head[2])
        if head[1] == b"blob":
            of_snapshot[path] = out[at : at + size].decode("utf-8", "replace")
        at += size + 1
    return found


async def paths_with(git_dir: Path, snapshot: str, name: str) -> tuple[str, ...]:
    """The paths of the snapshot's text files that hold the name as a word of its own."""
    out = await git("grep", "-z", "-l", "-I", "-F", "-w", "-e", name, snapshot, git_dir=git_dir, ok=(0, 1))
    return tuple(decode(line).partition(":")[2] for line in out.split(b"\0") if line)


async def _sizes(git_dir: Path, blobs: list[bytes]) -> dict[bytes, int]:
    if not blobs:
        return {}
    out = await git(
        "cat-file", "--batch-check=%(objectname) %(objectsize)", git_dir=git_dir, stdin=b"\n".join(blobs) + b"\n"
    )
    return {name: int(size) for name, size in (line.split(b" ") for line in out.splitlines())}


def _trees(before: str, after: str) -> tuple[str, str]:
    for name in (before, after):
        if name.startswith("-") or not name:
            raise ValueError(f"{name!r} is no object name")
    return before, after
