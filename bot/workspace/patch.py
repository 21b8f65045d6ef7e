"""Applies an agent's changes to a tree, all of them or none: policy first, then a chain of appliers for each diff.
Git applies a diff to a copy of the one file, under a name of ours, so nothing in a diff or a tree (paths, links,
attributes, filters) can lead it astray; what comes out is written by `nofollow` (REQ-RUN-003, T20-T22)."""

from __future__ import annotations

import asyncio
import dataclasses
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.errors import Shortage, UserError, shortage
from bot.model import Applied, Change
from bot.model.reasons import Reason
from bot.reports.locale.reasons import refused, user_error
from bot.rules.patches.change_policy import check_proposed
from bot.rules.patches.diff_parser import DEV_NULL, FileDiff, parse_diff
from bot.rules.patches.fuzzy_apply import Unclear, apply_fuzzily, matches_header_positions
from bot.rules.reasons import all_reasons, make_reason
from bot.workspace.files.nofollow import FileState, Replacement, read_state, replace_all
from bot.workspace.git.command import GitError, git
from bot.workspace.git.tree import Tree

_NAME = "mendbot-file"
_APPLY_TIMEOUT_S = 30.0


class PatchFailed(UserError):
    """A change that the policy allows and the tree doesn't take; the message names the path and git's reason."""


def _failed(kind: str, **values: str | Reason) -> PatchFailed:
    return user_error(make_reason(f"patch.{kind}", **values), PatchFailed)


class _NotApplied(Exception):
    """Why one applier could not do it; the next one may."""

    def __init__(self, because: Reason) -> None:
        super().__init__(because.kind)
        self.because = because


@dataclass(frozen=True, slots=True)
class _Result:
    content: bytes | None
    executable: bool | None
    fell_back: bool = False


async def apply_changes(tree: Tree | Path, changes: Sequence[Change], *, protected: Sequence[str] = ()) -> Applied:
    """Applies every change to the files of `tree` (a directory is enough, git repository or not), or none of them.

    For each change the diff is tried first, then `fallback_content`, then `content`; several changes of one path build
    on each other. `protected` are the repository's own globs. `Applied.paths` are the files that are different now.

    Raises Refused (its `reason` is a code of `rules.patches.change_policy`, or `through_symlink`), PatchFailed where
    something doesn't apply or can't be written, Shortage where the disk is full or the like; the tree is then as it
    was."""
    root = tree.path if isinstance(tree, Tree) else tree
    changes = [change.model_copy(update={"path": change.path.removeprefix("./")}) for change in changes]
    if refusal := check_proposed(changes, protected):
        raise refused(refusal.reason, refusal.because)
    before: dict[str, FileState | None] = {}
    after: dict[str, _Result] = {}
    for change in changes:
        if change.path not in after:
            state = before[change.path] = _read(root, change.path)
            after[change.path] = _Result(state.content if state else None, None)
        try:
            after[change.path] = await _planned(after[change.path], change)
        except OSError as error:
            raise _trouble(change.path, error) from error
    wanted = [
        Replacement(path, result.content, result.executable)
        for path, result in after.items()
        if _differs(before[path], result)
    ]
    _write(root, wanted)
    paths = tuple(item.path for item in wanted)
    return Applied(paths=paths, fallbacks=tuple(path for path, result in after.items() if result.fell_back))


def _read(root: Path, path: str) -> FileState | None:
    try:
        return read_state(root, path)
    except OSError as error:  # never for a lack of descriptors: that is a Shortage
        raise _failed("unreadable", path=path, error=error.strerror or "") from error


def _write(root: Path, wanted: Sequence[Replacement]) -> None:
    try:
        replace_all(root, wanted)
    except OSError as error:
        raise _trouble(", ".join(item.path for item in wanted[:5]), error) from error


def _trouble(paths: str, error: OSError) -> UserError | Shortage:
    if lacking := shortage(error.errno):
        return user_error(make_reason("file.not_written", paths=paths, lacking=lacking), Shortage)
    return _failed("unwritable", path=paths, error=error.strerror or "")


def _differs(before: FileState | None, result: _Result) -> bool:
    if before is None or result.content is None:
        return (before is None) != (result.content is None)
    return before.content != result.content or result.executable not in (None, before.executable)


async def _planned(current: _Result, change: Change) -> _Result:
    contents = [text for text in (change.fallback_content, change.content) if text is not None]
    if change.patch is None or (contents and not change.patch.strip()):
        if not contents:
            raise _failed("empty", path=change.path)
        return dataclasses.replace(current, content=_encode(change.path, contents[0]))
    try:
        return await _patched(current, change.path, change.patch)
    except PatchFailed:
        if not contents:
            raise
        return dataclasses.replace(current, content=_encode(change.path, contents[0]), fell_back=True)


async def _patched(current: _Result, path: str, patch: str) -> _Result:
    parts = parse_diff(patch)
    if not any(part.hunks or part.new_mode or part.creates or part.deletes for part in parts):
        raise _failed("no_hunk", path=path)
    for part in parts:
        content = await _apply(current.content, part, path)
        executable = current.executable if part.new_mode is None else part.new_mode == "100755"
        current = dataclasses.replace(current, content=content, executable=executable)
    return current


async def _apply(old: bytes | None, part: FileDiff, path: str) -> bytes | None:
    if part.creates and not old:
        old = None  # an empty file, such as an __init__.py, is as good as none
    if not part.hunks:
        return _without_hunks(old, part, path)
    reasons: list[Reason] = []
    for apply in APPLIERS:
        try:
            return await apply(old, part)
        except _NotApplied as failed:
            reasons.append(failed.because)
    raise _failed("misfit", path=path, why=all_reasons(dict.fromkeys(reasons)))


def _without_hunks(old: bytes | None, part: FileDiff, path: str) -> bytes | None:
    """The parts that a diff without hunks can express: an empty file comes or goes, a mode changes."""
    if part.creates and old is None:
        return b""
    if part.deletes and old == b"":
        return None
    if part.new_mode and old is not None and not part.creates and not part.deletes:
        return old
    raise _failed("misfit", path=path, why=make_reason("patch.no_hunks"))


async def _as_written(old: bytes | None, part: FileDiff) -> bytes | None:
    """Strict `git apply`, for a diff that is right in all its parts."""
    if not matches_header_positions(_decode(old), part.hunks):
        raise _NotApplied(make_reason("patch.wrong_counts"))
    return await _git_apply(old, part)


async def _by_content(old: bytes | None, part: FileDiff) -> bytes | None:
    """Our own applier, which goes by what the lines hold; in a thread, as a large file takes it a while."""
    if part.creates and old is not None:
        raise _NotApplied(make_reason("patch.exists"))
    new = await asyncio.to_thread(apply_fuzzily, _decode(old), part.hunks)
    if isinstance(new, Unclear):
        raise _NotApplied(new.because)
    if part.deletes and new:
        raise _NotApplied(make_reason("patch.more_content"))
    return None if part.deletes else _encode(_NAME, new)


Applier = Callable[[bytes | None, FileDiff], Awaitable[bytes | None]]
APPLIERS: tuple[Applier, ...] = (_as_written, _by_content)
"""Tried in this order; each gets a file's content (None: no file) and its diff, and gives the content after it."""


async def _git_apply(old: bytes | None, part: FileDiff) -> bytes | None:
    with tempfile.TemporaryDirectory(prefix="mendbot-apply-") as scratch:
        file = Path(scratch, _NAME)
        if old is not None:
            file.write_bytes(old)
        try:
            # no repository: none of its configuration and attributes may have an effect
            alone = {"GIT_CEILING_DIRECTORIES": str(file.parent.parent)}
            arguments = ("apply", "--whitespace=nowarn", f"--include={_NAME}", "-")
            async with asyncio.timeout(_APPLY_TIMEOUT_S):
                await git(*arguments, cwd=file.parent, stdin=_render(part), env=alone)
        except GitError as error:
            raise _NotApplied(error.reason.map_text(lambda text: text.replace(_NAME, "the file"))) from error
        except TimeoutError as error:
            raise _NotApplied(make_reason("patch.slow", seconds=f"{_APPLY_TIMEOUT_S:g}")) from error
        return file.read_bytes() if file.exists() else None


def _render(part: FileDiff) -> bytes:
    lines = [f"diff --git a/{_NAME} b/{_NAME}"]
    if part.creates:
        lines.append("new file mode 100644")
    if part.deletes:
        lines.append("deleted file mode 100644")
    lines.append(f"--- {DEV_NULL if part.creates else 'a/' + _NAME}")
    lines.append(f"+++ {DEV_NULL if part.deletes else 'b/' + _NAME}")
    for hunk in part.hunks:
        lines += [hunk.header, *hunk.lines]
    return _encode(_NAME, "\n".join(lines) + "\n")


def _encode(path: str, text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise _failed("no_text", path=path) from error


def _decode(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "surrogateescape")
