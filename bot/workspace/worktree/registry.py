"""A repository's linked worktrees as git records them, and making one so that a crash at any moment leaves nothing odd.
Every creation is written down before it begins; whoever comes next undoes what was begun and not ended."""

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
from bot.workspace.worktree.orphan_processes import MARK, end_marked

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
class _Begun:
    """A creation under way; `fresh` if it makes its branch, at the commit `start`; without a branch HEAD is detached
    there. Its processes carry `mark`."""

    path: str
    branch: str
    start: str
    fresh: bool
    mark: str


async def entries(common: Path) -> tuple[Entry, ...]:
    """The linked worktrees of the repository whose common directory is `common`, without the main checkout."""
    return tuple(entry for entry in (await _recorded(common)).values() if entry is not None)


async def _recorded(common: Path) -> Mapping[str, Entry | None]:
    """What each of git's administrative directories stands for; None where it is empty yet: git makes it first and
    writes down what it is for later, so a crash may come between.

    Read from the records themselves (gitrepository-layout(5), `worktrees/<id>/`), because `git worktree list` opens a
    repository for each; git is asked where refs are not kept as files (`.invalid`, its reftable document)."""
    found: dict[str, Entry | None] = {}
    for admin in _admins(common):
        place, head = _place(admin), _record(admin, "HEAD") or ""
        if head == f"ref: {_OTHERWISE_KEPT}":
            return {str(entry.path): entry for entry in await _listed(common)}
        branch = head.removeprefix("ref: ").removeprefix("refs/heads/") if head.startswith("ref: ") else ""
        found[admin] = Entry(Path(place), branch, _record(admin, "locked")) if place else None
    return found


async def _listed(common: Path) -> tuple[Entry, ...]:
    out = decode(await git("worktree", "list", "--porcelain", "-z", git_dir=common))
    blocks = [block.split("\0") for block in out.split("\0\0") if block.strip("\0")]
    return tuple(
        _entry({key: value for key, _, value in (line.partition(" ") for line in block)}) for block in blocks[1:]
    )


async def settled(common: Path, ours: Callable[[Path], bool]) -> tuple[Entry, ...]:
    """The worktrees, after undoing what a crash or a hand left of those that are `ours`. Hold the lock for it."""
    undone = await undo(common)
    recorded = await _recorded(common)
    found = [entry for entry in recorded.values() if entry is not None]
    broken = [e for e in found if ours(e.path) and (e.half_made or (e.missing and e.locked is None))]
    for entry in broken:
        await drop(common, entry.path)
    for admin, record in recorded.items():
        if record is None and (undone or ours(Path(admin))):
            await remove_directory(Path(admin), trash_in=common)
    return tuple(entry for entry in found if entry not in broken)


async def add(common: Path, path: Path, branch: str, start: str, *, fresh: bool) -> Tree:
    """Check `branch` out at `path`, made at the commit `start` if `fresh`; without a name, `start` itself, detached.
    Hold the lock for it.

    If it fails nothing stays; if it is killed, `undo` clears up. Raises UserError where something lies at `path`,
    GitError, Transient (disk full, time)."""
    if os.path.lexists(path):  # looked at before anything is written down, since to undo is to delete it
        raise user_error(make_reason("worktree.exists", path=str(path)))
    begun = _Begun(str(path), branch, start, fresh, uuid.uuid4().hex)
    _write(common / _JOURNAL, begun)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if (fresh or not branch) and _PLAIN.fullmatch(path.name) and _usual(common):
            tree = await _checked_out(common, path, begun)
        else:
            new = ("-b", branch, str(path), start) if branch else ("--detach", str(path), start)
            made = new if fresh or not branch else (str(path), branch)
            await _make(begun, "worktree", "add", "--quiet", *made, git_dir=common)
            tree = opened(common, path)
    except (GitError, MendbotError, OSError) as error:
        await undo(common)
        if (lacking := _lacking(error)) is not None:
            raise user_error(make_reason("worktree.lacks", path=str(path), lacking=lacking), Shortage) from error
        raise
    (common / _JOURNAL).unlink()
    return tree


async def _checked_out(common: Path, path: Path, begun: _Begun) -> Tree:
    """What `git worktree add -b` (or `--detach`) does, by one process that looks through no other worktrees: their
    number makes no difference. The branch must be new, so nobody can have it."""
    admin = _new_admin(common, path.name)
    try:
        (admin / "locked").write_text(_INITIALIZING)  # git's own sign of one half made
        (admin / "HEAD").write_text(f"{begun.start}\n")
        (admin / "commondir").write_text("../..\n")
        # the last: git passes over a record that lacks it, and dies of one that is half written
        (admin / "gitdir").write_bytes(os.fsencode(f"{path}/.git\n"))
    except OSError:
        await remove_directory(admin, trash_in=common)
        raise
    path.mkdir()
    (path / ".git").write_bytes(os.fsencode(f"gitdir: {admin}\n"))
    at = ("--no-track", "-b", begun.branch) if begun.branch else ("--detach",)
    await _make(begun, "checkout", "--quiet", "--force", *at, begun.start, "--", git_dir=admin, work_tree=path)
    (admin / "locked").unlink()
    return Tree(path, admin)


def _lacking(error: Exception) -> Reason | None:
    if isinstance(error, GitError) and "unable to write file" in error.stderr:
        return shortage(errno.ENOSPC)  # of a file that it checks out git reports no more than this
    return shortage(error.errno) if isinstance(error, OSError) else None


def _usual(common: Path) -> bool:
    """Whether nothing in the repository's configuration gives a worktree more than `_checked_out` makes: another way
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


async def _make(begun: _Begun, *command: str, git_dir: Path, work_tree: Path | None = None) -> None:
    settings, env = checkout_settings(), {MARK: begun.mark}
    await git(*settings, *command, git_dir=git_dir, work_tree=work_tree, env=env, timeout_s=_TIMEOUT_S)


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
    try:
        await remove_directory(path)
    finally:  # what resists lies under another name by now, and must not take a slot for ever
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
    if not path.is_dir() or (common / _JOURNAL).exists():
        return None
    records = _records(common, path)
    if len(records) != 1 or (records[0] / "locked").exists():
        return None
    try:
        head = (records[0] / "HEAD").read_bytes()
    except OSError:
        return None
    return Tree(path, records[0]) if head == encode(f"ref: refs/heads/{branch}\n") else None


def real(path: Path) -> Path:
    """`path` as git records it: absolute, its parents' links resolved, its own name as given."""
    return Path(os.path.realpath(path.absolute().parent), path.name)


def _admins(common: Path) -> list[str]:
    # texts, as a Path takes longer to make than a record to read
    try:
        with os.scandir(common / "worktrees") as found:
            return sorted(entry.path for entry in found if entry.is_dir())
    except FileNotFoundError:
        return []


def _place(admin: str) -> str:
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


def _records(common: Path, path: Path) -> list[Path]:
    """git's administrative directories for a worktree at `path`; more than one only after a crash."""
    wanted = str(path)
    return [Path(admin) for admin in _admins(common) if (place := _place(admin)) == wanted or _is_at(place, path)]


def _is_at(place: str, path: Path) -> bool:
    # to resolve every place's links would take longer, with hundreds of them, than git's checkout
    return place.endswith(f"/{path.name}") and real(Path(place)) == path


def _entry(fields: dict[str, str]) -> Entry:
    branch = fields.get("branch", "").removeprefix("refs/heads/")
    return Entry(Path(fields["worktree"]), branch, fields.get("locked"))


def _write(journal: Path, begun: _Begun) -> None:
    try:
        atomic_write(journal, json.dumps(asdict(begun)).encode())
    except OSError as error:
        fields = {"path": str(journal.parent), "error": error.strerror or ""}
        raise user_error(make_reason("worktree.read_only", **fields), Transient) from error
