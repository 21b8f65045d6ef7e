"""Reads git's records of a repository's linked worktrees, and creates and removes worktrees so that crashes do no harm.
Every creation is written to a journal first; the next call undoes one that did not end."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from bot.errors import MendbotError, Shortage, Transient, shortage
from bot.model.reasons import Reason
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.files.atomic_write import atomic_write
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.git.command import GitError, git
from bot.workspace.git.index import checkout_settings
from bot.workspace.git.objects import commits, decode, encode
from bot.workspace.git.tree import Tree
from bot.workspace.worktree.orphan_processes import MARK, kill_marked

_JOURNAL = "mendbot-creating.json"
_TIMEOUT_S = 900.0
_INITIALIZING = "initializing"
_PLAIN = re.compile(r"[a-z0-9][a-z0-9-]*")
_OTHERWISE_KEPT = "refs/heads/.invalid"
_MAX_RECORD_BYTES = 1 << 13


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
        return self.locked == _INITIALIZING

    @property
    def missing(self) -> bool:
        return not self.path.is_dir()


@dataclass(frozen=True, slots=True)
class _Creation:
    """A creation under way: at the commit `start`, of a new branch if `fresh`, detached without a branch.

    The environment of its processes holds `mark`."""

    path: str
    branch: str
    start: str
    fresh: bool
    mark: str


async def entries(common: Path) -> tuple[Entry, ...]:
    """The linked worktrees of the repository whose common directory is `common`, without the main checkout."""
    return tuple(entry for entry in (await _read_records(common)).values() if entry is not None)


async def _read_records(common: Path) -> Mapping[str, Entry | None]:
    """Returns the entry of each of git's administrative directories; None for one that is empty after a crash.

    Read from the records themselves (gitrepository-layout(5), `worktrees/<id>/`), because `git worktree list` opens a
    repository for each; git is asked where refs are not kept as files (`.invalid`, its reftable document)."""
    found: dict[str, Entry | None] = {}
    for admin in _record_directories(common):
        place, head = _worktree_path(admin), _record(admin, "HEAD") or ""
        if head == f"ref: {_OTHERWISE_KEPT}":
            return {str(entry.path): entry for entry in await _listed(common)}
        branch = head.removeprefix("ref: ").removeprefix("refs/heads/") if head.startswith("ref: ") else ""
        found[admin] = Entry(Path(place), branch, _record(admin, "locked")) if place else None
    return found


async def _listed(common: Path) -> tuple[Entry, ...]:
    out = decode(await git("worktree", "list", "--porcelain", "-z", git_dir=common))
    blocks = [block.split("\0") for block in out.split("\0\0") if block.strip("\0")]
    found = []
    for block in blocks[1:]:
        fields = {key: value for key, _, value in (line.partition(" ") for line in block)}
        branch = fields.get("branch", "").removeprefix("refs/heads/")
        found.append(Entry(Path(fields["worktree"]), branch, fields.get("locked")))
    return tuple(found)


async def repair_entries(common: Path, ours: Callable[[Path], bool]) -> tuple[Entry, ...]:
    """Returns the worktrees, after removing half-made and deleted ones that are `ours`. The caller holds the lock."""
    undone = await undo_creation(common)
    recorded = await _read_records(common)
    found = [entry for entry in recorded.values() if entry is not None]
    broken = [e for e in found if ours(e.path) and (e.half_made or (e.missing and e.locked is None))]
    for entry in broken:
        await remove_entry(common, entry.path)
    for admin, record in recorded.items():
        if record is None and (undone or ours(Path(admin))):
            await remove_directory(Path(admin), trash_in=common)
    return tuple(entry for entry in found if entry not in broken)


async def create_entry(common: Path, path: Path, branch: str, start: str, *, fresh: bool) -> Tree:
    """Checks `branch` out at `path`; if `fresh`, creates it at the commit `start`. Without a branch HEAD is detached.

    The caller holds the lock. After an error nothing stays; after a crash `undo_creation` removes what is left. Raises
    UserError where `path` exists, GitError, Transient (disk full, time)."""
    if os.path.lexists(path):  # looked at before anything is written down, since to undo is to delete it
        raise user_error(make_reason("worktree.exists", path=str(path)))
    creation = _Creation(str(path), branch, start, fresh, uuid.uuid4().hex)
    _write_journal(common / _JOURNAL, creation)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if (fresh or not branch) and _PLAIN.fullmatch(path.name) and _is_plain(common):
            tree = await _check_out(common, path, creation)
        else:
            new = ("-b", branch, str(path), start) if branch else ("--detach", str(path), start)
            made = new if fresh or not branch else (str(path), branch)
            await _run_marked(creation, "worktree", "add", "--quiet", *made, git_dir=common)
            tree = open_tree(common, path)
    except (GitError, MendbotError, OSError) as error:
        await undo_creation(common)
        if (lacking := _shortage_of(error)) is not None:
            raise user_error(make_reason("worktree.lacks", path=str(path), lacking=lacking), Shortage) from error
        raise
    (common / _JOURNAL).unlink()
    return tree


async def _check_out(common: Path, path: Path, creation: _Creation) -> Tree:
    """Does what `git worktree add -b` (or `--detach`) does in one process, which reads no other worktree's record.

    Their number makes no difference then. The branch must be new, so that no worktree can have it."""
    admin = _new_admin(common, path.name)
    try:
        (admin / "locked").write_text(_INITIALIZING)  # git's own sign of one half made
        (admin / "HEAD").write_text(f"{creation.start}\n")
        (admin / "commondir").write_text("../..\n")
        # the last: git passes over a record that lacks it, and dies of one that is half written
        (admin / "gitdir").write_bytes(os.fsencode(f"{path}/.git\n"))
    except OSError:
        await remove_directory(admin, trash_in=common)
        raise
    path.mkdir()
    (path / ".git").write_bytes(os.fsencode(f"gitdir: {admin}\n"))
    at = ("--no-track", "-b", creation.branch) if creation.branch else ("--detach",)
    await _run_marked(
        creation, "checkout", "--quiet", "--force", *at, creation.start, "--", git_dir=admin, work_tree=path
    )
    (admin / "locked").unlink()
    return Tree(path, admin)


def _shortage_of(error: Exception) -> Reason | None:
    if isinstance(error, GitError) and "unable to write file" in error.stderr:
        return shortage(errno.ENOSPC)  # of a file that it checks out git reports no more than this
    return shortage(error.errno) if isinstance(error, OSError) else None


def _is_plain(common: Path) -> bool:
    """Whether nothing in the repository's configuration gives a worktree more than `_check_out` makes: another way
    of keeping refs, a configuration of its own, a sparse checkout (git-config(1), `extensions.*`)."""
    config = (common / "config").read_bytes().lower()
    return b"extensions" not in config and b"sparse" not in config


def _new_admin(common: Path, name: str) -> Path:
    (common / "worktrees").mkdir(exist_ok=True)
    for number in itertools.count():
        admin = common / "worktrees" / f"{name}{number or ''}"  # as git numbers them
        with contextlib.suppress(FileExistsError):
            admin.mkdir()
            return admin
    raise AssertionError("counting ended")


async def _run_marked(creation: _Creation, *command: str, git_dir: Path, work_tree: Path | None = None) -> None:
    settings, env = checkout_settings(), {MARK: creation.mark}
    await git(*settings, *command, git_dir=git_dir, work_tree=work_tree, env=env, timeout_s=_TIMEOUT_S)


async def undo_creation(common: Path) -> bool:
    """Undoes a creation that did not end: directory, record, and the branch if nothing was committed to it.

    Returns whether there was one."""
    try:
        creation = _Creation(**json.loads((common / _JOURNAL).read_text("utf-8")))
    except FileNotFoundError:
        return False
    except (ValueError, TypeError):  # emptied by a power cut; the worktree shows as half made
        (common / _JOURNAL).unlink(missing_ok=True)
        return True
    await kill_marked(creation.mark)
    await remove_entry(common, Path(creation.path))
    ref = f"refs/heads/{creation.branch}"
    if creation.fresh:  # whoever could hold the branch's lock is dead
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            (common / f"{ref}.lock").unlink()
    if creation.fresh and (await commits(common, [ref]))[0] == creation.start:
        await git("update-ref", "-d", ref, creation.start, git_dir=common)
    (common / _JOURNAL).unlink(missing_ok=True)
    return True


async def remove_entry(common: Path, path: Path) -> None:
    """Deletes a worktree's directory and git's record of it, in any state; the branch stays."""
    try:
        await remove_directory(path)
    finally:  # what resists lies under another name by now, and must not take a slot for ever
        for admin in _records_of(common, path):
            await remove_directory(admin, trash_in=common)


def open_tree(common: Path, path: Path) -> Tree:
    """Returns the registered worktree at `path`. Raises KeyError if there is none."""
    for admin in _records_of(common, path):
        return Tree(path, admin)
    raise KeyError(path)


def find_intact(common: Path, path: Path, branch: str) -> Tree | None:
    """Returns the worktree at `path` on `branch` if git's records, read as files, show it complete; else None.

    git locks a worktree while it creates it, and a creation of ours that did not end left its journal."""
    if not path.is_dir() or (common / _JOURNAL).exists():
        return None
    records = _records_of(common, path)
    if len(records) != 1 or (records[0] / "locked").exists():
        return None
    try:
        head = (records[0] / "HEAD").read_bytes()
    except OSError:
        return None
    return Tree(path, records[0]) if head == encode(f"ref: refs/heads/{branch}\n") else None


def canonical_path(path: Path) -> Path:
    """Returns `path` as git records it: absolute, its parents' links resolved, its own name as given."""
    return Path(os.path.realpath(path.absolute().parent), path.name)


def _record_directories(common: Path) -> list[str]:
    # texts, as a Path takes longer to make than a record to read
    try:
        with os.scandir(common / "worktrees") as found:
            return sorted(entry.path for entry in found if entry.is_dir())
    except FileNotFoundError:
        return []


def _worktree_path(admin: str) -> str:
    """Where the worktree lies; empty where nothing is recorded."""
    link = _record(admin, "gitdir") or ""
    if link and not link.startswith("/"):  # from git 2.48 on, if asked for
        link = os.path.normpath(f"{admin}/{link}")
    return link.removesuffix("/.git")


def _record(admin: str, name: str) -> str | None:
    """What one of a worktree's records holds; None where there is no such record."""
    try:
        file = os.open(f"{admin}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        if shortage(error.errno):
            raise  # else the record of a worktree would be taken for an empty one, and be removed
        return None
    try:
        return os.fsdecode(os.read(file, _MAX_RECORD_BYTES)).rstrip("\n")
    finally:
        os.close(file)


def _records_of(common: Path, path: Path) -> list[Path]:
    """Returns git's administrative directories for a worktree at `path`; more than one only after a crash."""

    def is_for(recorded: str) -> bool:
        # names first: to resolve the links of hundreds of paths takes longer than git's checkout
        same_name = recorded.endswith(f"/{path.name}")
        return recorded == str(path) or (same_name and canonical_path(Path(recorded)) == path)

    return [Path(admin) for admin in _record_directories(common) if is_for(_worktree_path(admin))]


def _write_journal(journal: Path, creation: _Creation) -> None:
    try:
        atomic_write(journal, json.dumps(asdict(creation)).encode())
    except OSError as error:
        fields = {"path": str(journal.parent), "error": error.strerror or ""}
        raise user_error(make_reason("worktree.read_only", **fields), Transient) from error
