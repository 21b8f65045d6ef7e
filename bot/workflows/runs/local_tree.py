"""The tree of a session in a person's own directory. The session works in place, because the packages and builds that
checks need lie there, ignored by git. Where it fails the tree is restored, and its change is saved as a diff."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.logs import get_logger
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context, session_dir
from bot.workspace.checks.logs import write_log
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.git.command import GitError
from bot.workspace.git.tree import Tree

CHANGE = "change.diff"
LEFT_OVER = "not-kept.diff"
FOUND = "found-{}.diff"

log = get_logger()


def open_local(context: Context, row: RunRow) -> Tree:
    """The session's tree and the git directory that `begin_local` made for it; UserError where the tree is gone."""
    tree = _tree(context, row)
    if not tree.path.is_dir():
        raise user_error(make_reason("session.tree_gone", path=str(tree.path)))
    return tree


def _tree(context: Context, row: RunRow) -> Tree:
    return Tree(context.tree_path(row), context.git_dir(row.id, row.spec))


async def save_edits(context: Context, row: RunRow, state: RunState, tree: Tree, *, after: str = "") -> None:
    """Save as a diff what the tree holds beside the session's change, before it is restored: a person's edits, files of
    checks, half a change after a crash. `after` names the check that has just run, if any."""
    assert state.snapshot is not None
    found = await tree.snapshot()
    if found != state.snapshot:
        patch = context.mask(await tree.diff(state.snapshot, found))
        write_log(
            context.settings.home,
            row.id,
            FOUND.format(f"{state.attempt}-{after}" if after else state.attempt),
            patch.encode(),
        )


async def close_local(context: Context, row: RunRow, state: RunState, *, succeeded: bool) -> str | None:
    """End the session in its tree: a successful change stays, any other is undone. Returns the name of the saved
    diff."""
    where, left = session_dir(context.settings, row.id), None
    tree = _tree(context, row)
    if succeeded:
        left = await _save_change(context, row, state, tree)
    elif state.start is not None and tree.git_dir.is_dir() and tree.path.is_dir():
        now = await tree.snapshot()
        if now != state.start:
            patch = context.mask(await tree.diff(state.start, now))
            left = write_log(context.settings.home, row.id, LEFT_OVER, patch.encode())
            await tree.restore(state.start)
    if where.is_dir():
        await remove_directory(where)
    return left


async def _save_change(context: Context, row: RunRow, state: RunState, tree: Tree) -> str | None:
    """Save a successful change as one diff; None where there is none, or where it is too large."""
    if state.start is None or state.snapshot in (None, state.start) or not tree.git_dir.is_dir():
        return None
    try:
        patch = await tree.diff(state.start, state.snapshot)
    except GitError as error:
        log.warning("change_not_saved", session=row.id, because=error.text)
        return None
    return write_log(context.settings.home, row.id, CHANGE, context.mask(patch).encode())


@contextmanager
def attending(home: Path, run_id: str) -> Iterator[None]:
    """Hold a session's lock while this process works on it; the system releases it however the process ends."""
    where = home / "sessions" / run_id
    where.mkdir(parents=True, mode=0o700)
    lock = os.open(_lock(home, run_id), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)
        _lock(home, run_id).unlink(missing_ok=True)


@contextmanager
def take_over(home: Path, run_id: str) -> Iterator[bool]:
    """Hold the lock of a session of another process, so that only one process ends it. False where it is held: by its
    own process, or by one that is ending it."""
    (home / "sessions").mkdir(exist_ok=True, mode=0o700)
    lock = os.open(_lock(home, run_id), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        yield False
        return
    try:
        yield True
    finally:
        os.close(lock)
        _lock(home, run_id).unlink(missing_ok=True)


def _lock(home: Path, run_id: str) -> Path:
    # beside the directory, which is removed before the session's end is recorded
    return home / "sessions" / f".{run_id}.lock"
