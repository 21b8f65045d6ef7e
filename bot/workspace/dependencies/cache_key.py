"""The cache key of a setup step: a hash over everything that the step can read.

Trees with the same key may have the same installed dependencies. If something cannot be read for certain there is no
key, and the step runs without the cache."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import stat
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from bot import proc
from bot.errors import Refused, UserError
from bot.model.setups import SetupStep
from bot.reports.locale.reasons import user_error
from bot.rules.patches.change_policy import matches
from bot.rules.reasons import error_reason, make_reason
from bot.workspace.files.nofollow import read_state
from bot.workspace.files.tree_digest import Walk
from bot.workspace.files.walk import walk
from bot.workspace.sandbox.sandbox import Sandbox

_SCHEMA = "2"
"""Changed when the layout of the cache or the way to install changes, which makes all entries invalid."""
_MAX_NAMES = 100_000
_MAX_BYTES = 500_000_000
_GLOB = re.compile(r"[*?\[]")
_WORD = re.compile(r"[\w.+-]+")
_ALWAYS = ("node", "npm", "python3")


class UnknownInput(UserError):
    """A step can read something whose content is not known for certain."""


def key_of(
    step: SetupStep,
    tree: Path,
    sandbox: Sandbox,
    env: Mapping[str, str],
    *,
    earlier: Sequence[str] = (),
    commit: str = "",
) -> str:
    """The key of a step in `tree` (absolute): a hash in hexadecimal. Its command gets `env`; `earlier` are the keys of
    the steps before it.

    A name in `reads` is a file, a directory with all below it, or, with `*`, `?` or `[`, a glob as in
    `protected_paths`; all are relative to the tree, and what is absent counts as absent. With a `commit` the step may
    read the whole tree at that commit. Raises UnknownInput if a file is not regular, too large, or leads out of the
    tree by a link; OSError."""
    digest = hashlib.sha256()
    run = step.run if isinstance(step.run, str) else "\0".join(step.run)
    parts = [_SCHEMA, run, str(step.network), commit, *earlier, "programs"]
    parts += [f"{one.name} {one.version} {one.digest}" for one in step.programs]
    parts += ["products", *step.products, "machine", *_machine(sandbox, env), *_programs(run, sandbox)]
    for part in parts:
        _add(digest, part.encode("utf-8", "surrogateescape"))
    for name in sorted(set(_everything(tree) if commit else _named(tree, step.reads))):
        _add_file(digest, tree, name)
    return digest.hexdigest()


def _add(digest: hashlib._Hash, part: bytes) -> None:
    digest.update(len(part).to_bytes(8, "big") + part)


def _machine(sandbox: Sandbox, env: Mapping[str, str]) -> Iterator[str]:
    packages = sandbox.bubblewrap.registry.env if sandbox.bubblewrap is not None else {}
    yield from (sysconfig.get_platform(), " ".join(platform.libc_ver()), _system(), str(os.geteuid()))
    yield from (sys.version, str(proc.base_python()), sandbox.level, *sandbox.search_path())
    for variables in (env, packages):
        yield from (f"{name}={value}" for name, value in sorted(variables.items()))


def _system() -> str:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return ""
    return f"{release.get('ID', '')} {release.get('VERSION_ID', '')}"


def _programs(run: str, sandbox: Sandbox) -> Iterator[str]:
    """The programs of this machine that the command names, each with its file's size and time."""
    # all programs of a name, as the project decides which Node.js its commands get
    for word, place in product(sorted({*_ALWAYS, *_WORD.findall(run)}), dict.fromkeys(sandbox.search_path())):
        found = shutil.which(word, path=place)
        if found is not None:
            status = Path(found).stat()
            yield f"{word} {os.path.realpath(found)} {status.st_size} {status.st_mtime_ns}"


def _everything(tree: Path) -> Iterator[str]:
    yield from (name for name in _all_files(tree) if name != ".git")  # a worktree's names its repository
    yield from (entry.name for entry in os.scandir(tree) if entry.is_dir(follow_symlinks=False))


def _named(tree: Path, reads: Iterable[str]) -> Iterator[str]:
    globs = [name for name in reads if _GLOB.search(name)]
    for name in reads:
        if name not in globs:
            yield from _below(tree, name.strip("/"))
    if globs:
        for path in _all_files(tree):
            if any(matches(path.casefold().split("/"), glob) for glob in globs):
                yield path


def _all_files(tree: Path) -> Iterator[str]:
    files = Walk(tree, _MAX_NAMES)
    yield from files
    if files.unread:
        reason = make_reason("cache.unlisted", path=str(files.unread[0]), limit=f"{_MAX_NAMES:,}")
        raise user_error(reason, UnknownInput)


def _below(tree: Path, name: str) -> Iterator[str]:
    """The name itself, and all files below it if it is a directory."""
    yield name
    if (tree / name).is_symlink() or not (tree / name).is_dir():
        return
    for number, (below, entry) in enumerate(walk(tree / name), 1):
        if number > _MAX_NAMES:
            raise user_error(make_reason("cache.many_files", name=name, limit=f"{_MAX_NAMES:,}"), UnknownInput)
        if not entry.is_dir(follow_symlinks=False):
            yield f"{name}/{below}"


def _add_file(digest: hashlib._Hash, tree: Path, name: str) -> None:
    """Adds a file's path and content; for a link to another file of the tree, that file's."""
    _add(digest, os.fsencode(name))
    top = Path(os.path.realpath(tree))
    real = Path(os.path.realpath(top / name))
    if not real.is_relative_to(top):
        raise user_error(make_reason("cache.leads_out", name=name), UnknownInput)
    try:
        mode = real.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        _add(digest, b"absent")
        return
    if stat.S_ISDIR(mode) and real == top / name:
        _add(digest, b"directory")
        return
    if not stat.S_ISREG(mode):
        raise user_error(make_reason("cache.no_file", name=name), UnknownInput)
    try:
        state = read_state(top, real.relative_to(top).as_posix(), limit=_MAX_BYTES)
    except Refused as error:
        raise user_error(error_reason(error), UnknownInput) from error
    if state is None:
        raise user_error(make_reason("cache.vanished", name=name), UnknownInput)
    _add(digest, os.fsencode(real.relative_to(top)))
    _add(digest, b"executable" if state.executable else b"file")
    _add(digest, state.content)
