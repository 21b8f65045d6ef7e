"""The cache of installed dependencies, outside every sandbox, which other worktrees get as copies.

Entries of the default branch serve every worktree of the repository; those of a pull request's head serve that head
only (T31). Entries are created atomically, under their lock."""

from __future__ import annotations

import asyncio
import errno
import functools
import os
import stat
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from pydantic import ValidationError

from bot.errors import MendbotError
from bot.model import Model
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.dependencies.relocation import Moved, Unmovable, move, prepare, survey
from bot.workspace.files.home_directories import is_marked, mark, own_entries
from bot.workspace.files.nofollow import open_parent
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.files.system_command import copy, flush
from bot.workspace.files.tree_digest import MADE_BY_TOOLS
from bot.workspace.files.walk import walk
from bot.workspace.git.repo_lock import exclusive

MANIFEST = "manifest.json"
FLUSHED = "flushed"
"""A file in an entry that has been flushed to the disk."""
_DEFAULT = "default"
_HEAD = "head-"
_LOCK = "keep"
_MAX_PRODUCTS = 1_000
_MAX_NAMES = 200_000
_WAIT_S = 3_600.0
"""Seconds that a worktree waits for another one that installs the same."""

Listing = Mapping[str, tuple[int, ...]]
HasSpace = Callable[[int], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class DependencyCache:
    """The cache of `repo`'s setup products.

    `head` is "" for a worktree of the default branch, whose products all worktrees get. Otherwise it is the head commit
    of a pull request, and its products serve that head only (T31)."""

    directory: Path
    repo: str
    head: str = ""

    def directories(self) -> tuple[Path, ...]:
        """The directories whose entries a worktree may use, its own last."""
        place = self.directory / f"@{quote(self.repo, safe='')}"
        own = (place / f"{_HEAD}{quote(self.head, safe='')}",) if self.head else ()
        return (place / _DEFAULT, *own)


class Product(Model):
    """A directory or file that a step made at `name`, a path relative to the tree."""

    name: str
    moved: Moved


class Manifest(Model):
    """The content of an entry: `products`, each under its number, as made in the tree at `tree`; `size` in bytes.

    `boot` identifies the boot in which it was written. After a reboot it may be incomplete, unless it was flushed."""

    boot: str
    tree: str
    products: tuple[Product, ...]
    size: int


def prepare_directory(cache: DependencyCache) -> bool:
    """Creates the cache's directory if it is missing; False if it is not Mendbot's or cannot be used."""
    try:
        if not is_marked(cache.directory):
            cache.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(cache.directory.iterdir()) and not is_marked(cache.directory):  # another process may just have
                return False
            mark(cache.directory)
        cache.directories()[-1].mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return True


@asynccontextmanager
async def entry_lock(space: Path, key: str, timeout_s: float = _WAIT_S) -> AsyncIterator[Path]:
    """Holds the lock of the key's entry in `space`; yields the entry's path.

    Keys with the same beginning share a lock, to bound the number of locks. Raises Transient after `timeout_s`."""
    async with exclusive(space / key[:2], _LOCK, timeout_s):
        yield space / key


def read_manifest(entry: Path) -> Manifest | None:
    """The entry's manifest, or None if there is no entry."""
    try:
        return Manifest.model_validate_json((entry / MANIFEST).read_bytes())
    except (OSError, ValidationError):
        return None


def listing(tree: Path) -> Listing | None:
    """Every file and directory of the tree but `.git`, with values that change when it is written to.

    Directories that tools fill are listed without their content. None if there are too many names. Raises OSError.
    Permissions do not count, as npm makes the programs of a workspace executable."""
    found: dict[str, tuple[int, ...]] = {}
    for name, entry in walk(tree, enters=lambda name: name.rpartition("/")[2] not in MADE_BY_TOOLS):
        if name == ".git":
            continue
        status = entry.stat(follow_symlinks=False)
        state = (stat.S_IFMT(status.st_mode), status.st_size, status.st_mtime_ns, status.st_ino)
        found[name] = () if stat.S_ISDIR(status.st_mode) else state
        if len(found) > _MAX_NAMES:
            return None
    return found


def made_since(before: Listing, after: Listing) -> tuple[str, ...]:
    """The new names, each directory as a whole. Raises Unmovable if anything else was changed or removed."""
    for name, state in before.items():
        if after.get(name) != state:
            raise user_error(make_reason("cache.changed", name=name), Unmovable)
    new = after.keys() - before.keys()
    fresh = sorted(name for name in new if name.rpartition("/")[0] not in new)
    if len(fresh) > _MAX_PRODUCTS:
        raise user_error(make_reason("cache.many_products", limit=f"{_MAX_PRODUCTS:,}"), Unmovable)
    return tuple(fresh)


async def give_entry(entry: Path, tree: Path) -> tuple[str, ...] | None:
    """Puts copies of the entry's products into the tree and returns their names; None if there is no entry.

    Each product replaces anything in its place atomically. Raises OSError, Transient or Refused; then the tree has none
    of them."""
    manifest = read_manifest(entry)
    if manifest is None or not (manifest.boot == boot() or (entry / FLUSHED).is_file()):
        return None
    names = tuple(product.name for product in manifest.products)
    fresh = entry.with_name(f".{entry.name}.given-{uuid.uuid4().hex}")
    fresh.mkdir(mode=0o700)
    try:
        for number, product in enumerate(manifest.products):
            await copy(entry / str(number), fresh / str(number))
            await asyncio.to_thread(move, fresh / str(number), product.moved, Path(manifest.tree), tree)
        for number, name in enumerate(names):
            await _put(fresh / str(number), tree, name)
        os.utime(entry / MANIFEST)  # what was used least recently goes first
    except (OSError, MendbotError):
        for name in names:
            with suppress(FileNotFoundError), open_parent(tree, name):
                await remove_directory(tree / name)
        raise
    finally:
        await remove_directory(fresh)
    return names


async def store_entry(
    entry: Path, tree: Path, names: tuple[str, ...], places: tuple[str, ...], has_space: HasSpace
) -> Manifest:
    """Stores the products at `names` in the tree as the entry, atomically; replaces a damaged entry.

    Links may lead to programs below `places`. `has_space` returns whether the cache may take so many bytes. Raises
    Unmovable if it may not, or if a product cannot serve another tree; OSError, Transient, Refused."""
    size = 0
    for name in names:
        with open_parent(tree, name):  # no part of it is a link
            size += await asyncio.to_thread(survey, tree / name, name, tree, places)
    if not await has_space(size):
        raise user_error(make_reason("cache.no_space", size=f"{size:,}"), Unmovable)
    fresh = entry.with_name(f".{entry.name}.new-{uuid.uuid4().hex}")
    fresh.mkdir(mode=0o700)
    try:
        products = []
        for number, name in enumerate(names):
            await copy(tree / name, fresh / str(number))
            moved = await asyncio.to_thread(prepare, fresh / str(number), tree)
            products.append(Product(name=name, moved=moved))
        manifest = Manifest(boot=boot(), tree=str(tree), products=tuple(products), size=size)
        (fresh / MANIFEST).write_text(_as_json(manifest), encoding="utf-8")
        await remove_directory(entry)  # one that could not be given
        fresh.rename(entry)
    finally:
        await remove_directory(fresh)
    return manifest


async def flush_entries(directory: Path) -> None:
    """Flushes all entries to the disk, so that they survive a power failure. Raises OSError, Transient.

    It is not done when an entry is stored: on a busy disk it takes minutes, and a run would wait."""
    fresh = [path.parent for path in own_entries(directory.parent, directory.name, f"*/*/*/{MANIFEST}")]
    if fresh := [entry for entry in fresh if not (entry / FLUSHED).exists()]:
        await flush(directory)
        for entry in fresh:
            with suppress(FileNotFoundError):
                (entry / FLUSHED).touch()


@functools.cache
def boot() -> str:
    """The id of this machine's boot (random(4)), or an id that no other process has."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return uuid.uuid4().hex


def _as_json(manifest: Manifest) -> str:
    try:
        return manifest.model_dump_json()
    except ValueError as error:
        raise user_error(make_reason("cache.not_utf8"), Unmovable) from error


async def drop_head_entries(cache: DependencyCache) -> None:
    """Removes the entries of a pull request's head. Raises OSError, Transient."""
    if cache.head and is_marked(cache.directory):
        await remove_directory(cache.directories()[-1])


async def _put(source: Path, tree: Path, name: str) -> None:
    with open_parent(tree, name, make=True) as (parent, last):
        try:
            os.stat(last, dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError:
            pass
        else:
            await remove_directory(tree / name)
        try:
            os.rename(source, last, dst_dir_fd=parent)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            await copy(source, tree / name)
