"""A repository's linked worktrees as git records them, and making one so that a crash at any moment leaves nothing odd.
Every creation is written down before it begins; whoever comes next undoes what was begun and not ended."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from bot.errors import MendbotError, Transient
from bot.workspace.git import GitError, git
from bot.workspace.index import checkout_settings
from bot.workspace.objects import commits, decode, encode
from bot.workspace.orphans import MARK, end_marked
from bot.workspace.removal import remove_directory
from bot.workspace.tree import Tree

_JOURNAL = "mendbot-creating.json"
_TIMEOUT_S = 900.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One linked worktree (git-worktree(1), `list --porcelain`). `branch` is short, empty where HEAD is detached;
    `locked` is the reason given, None where it is not locked."""

    path: Path
    branch: str
    locked: str | None

    @property
    def half_made(self) -> bool:
        """git died while it made this one: it holds the lock only as long as it checks out."""
        return self.locked == "initializing"

    @property
    def missing(self) -> bool:
        return not self.path.is_dir()


@dataclass(frozen=True, slots=True)
class _Begun:
    """A creation under way; `fresh` if it makes its branch, at the commit `start`; its processes carry `mark`."""

    path: str
    branch: str
    start: str
    fresh: bool
    mark: str


async def entries(common: Path) -> tuple[Entry, ...]:
    """The linked worktrees of the repository whose common directory is `common`, without the main checkout."""
    out = decode(await git("worktree", "list", "--porcelain", "-z", git_dir=common))
    blocks = [block.split("\0") for block in out.split("\0\0") if block.strip("\0")]
    return tuple(_entry(dict(_pair(line) for line in block)) for block in blocks[1:])


async def settled(common: Path, ours: Callable[[Path], bool]) -> tuple[Entry, ...]:
    """The worktrees, after undoing what a crash or a hand left of those that are `ours`. Hold the lock for it."""
    undone = await undo(common)
    found = await entries(common)
    broken = [e for e in found if ours(e.path) and (e.half_made or (e.missing and e.locked is None))]
    for entry in broken:
        await drop(common, entry.path)
    for admin in _admins(common):
        if (undone or ours(admin)) and not _names_a_place(admin):
            await remove_directory(admin, trash_in=common)
    return tuple(entry for entry in found if entry not in broken)


async def add(common: Path, path: Path, branch: str, start: str, *, fresh: bool) -> Tree:
    """Check `branch` out at `path`, made at the commit `start` if `fresh`. Hold the lock for it.

    If it fails nothing stays; if it is killed, `undo` clears up. Raises GitError, Transient (disk full, time)."""
    begun = _Begun(str(path), branch, start, fresh, uuid.uuid4().hex)
    _write(common / _JOURNAL, begun)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        made = ("-b", branch, str(path), start) if fresh else (str(path), branch)
        adding = ("worktree", "add", "--quiet", *made)
        await git(*checkout_settings(), *adding, git_dir=common, env={MARK: begun.mark}, timeout_s=_TIMEOUT_S)
    except (GitError, MendbotError, OSError):
        await undo(common)
        raise
    (common / _JOURNAL).unlink()
    return opened(common, path)


async def undo(common: Path) -> bool:
    """Take back a creation that was begun and not ended: directory, record, and the branch if nothing is on it.

    Whether there was one."""
    try:
        begun = _Begun(**json.loads((common / _JOURNAL).read_text("utf-8")))
    except FileNotFoundError:
        return False
    except (ValueError, TypeError):  # emptied by a power cut; what it spoke of shows as half made
        (common / _JOURNAL).unlink(missing_ok=True)
        return True
    await end_marked(begun.mark)
    await drop(common, Path(begun.path))
    ref = f"refs/heads/{begun.branch}"
    if begun.fresh:  # whoever could hold the branch's lock is dead
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            (common / f"{ref}.lock").unlink()
    if begun.fresh and (await commits(common, [ref]))[0] == begun.start:
        await git("update-ref", "-d", ref, begun.start, git_dir=common)
    (common / _JOURNAL).unlink(missing_ok=True)
    return True


async def drop(common: Path, path: Path) -> None:
    """Delete the directory of a worktree and git's record of it, in whatever state; the branch stays."""
    await remove_directory(path)
    for admin in _records(common, path):
        await remove_directory(admin, trash_in=common)


def opened(common: Path, path: Path) -> Tree:
    """The registered worktree at `path`; KeyError if there is none."""
    for admin in _records(common, path):
        return Tree(path, admin)
    raise KeyError(path)


def whole(common: Path, path: Path, branch: str) -> Tree | None:
    """The worktree at `path` on `branch` if git's records, read as files, show it whole; None sends one to ask git.

    git locks a worktree while it makes it, and a creation of ours that was cut short left its journal."""
    records = _records(common, path)
    if len(records) != 1 or not path.is_dir() or (common / _JOURNAL).exists() or (records[0] / "locked").exists():
        return None
    try:
        head = (records[0] / "HEAD").read_bytes()
    except OSError:
        return None
    return Tree(path, records[0]) if head == encode(f"ref: refs/heads/{branch}\n") else None


def real(path: Path) -> Path:
    """`path` as git records it: absolute, its parents' links resolved, its own name as given."""
    return Path(os.path.realpath(path.absolute().parent), path.name)


def _admins(common: Path) -> list[Path]:
    try:
        return sorted(admin for admin in (common / "worktrees").iterdir() if admin.is_dir())
    except FileNotFoundError:
        return []


def _names_a_place(admin: Path) -> bool:
    """git makes the directory first and writes down what it is for later, so a crash may come between."""
    record = admin / "gitdir"
    return record.is_file() and bool(record.read_bytes().strip())


def _records(common: Path, path: Path) -> list[Path]:
    """git's administrative directories for a worktree at `path`; more than one only after a crash."""
    found = []
    for admin in _admins(common):
        try:
            named = os.fsdecode((admin / "gitdir").read_bytes()).rstrip("\n")
        except OSError:
            continue
        if real(Path(admin, named).parent) == path:  # relative from git 2.48 on, if asked for
            found.append(admin)
    return found


def _pair(line: str) -> tuple[str, str]:
    key, _, value = line.partition(" ")
    return key, value


def _entry(fields: dict[str, str]) -> Entry:
    branch = fields.get("branch", "").removeprefix("refs/heads/")
    return Entry(Path(fields["worktree"]), branch, fields.get("locked"))


def _write(journal: Path, begun: _Begun) -> None:
    text = json.dumps(asdict(begun))
    half = journal.with_suffix(".half")
    try:
        half.write_text(text, "utf-8")
        half.replace(journal)
    except OSError as error:
        half.unlink(missing_ok=True)
        raise Transient(f"{journal.parent} cannot be written to ({error.strerror}): free or mend it") from error
