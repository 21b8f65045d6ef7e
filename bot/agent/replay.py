"""The agent that repeats a known fix: the patch of a proven resolution of the same error.

It proposes nothing rather than a patch of which a part is missing."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from bot.model import AgentTask, Change, KnownError, Proposal, Resolution
from bot.model.reasons import Reason
from bot.rules.history.known_errors import may_be_replayed, weight
from bot.rules.patches.diff_parser import FileDiff, parse_diff
from bot.rules.patches.document_files import is_document
from bot.rules.reasons import all_reasons, make_reason

LookUp = Callable[[Sequence[str]], Awaitable[Sequence[KnownError]]]
"""The known resolutions, with their patches, of errors by their fingerprints, as far as this repository may know."""
DeadEnds = Callable[[Sequence[str]], Awaitable[frozenset[str]]]
"""The hashes of patches that did not help against one of the errors."""
Fits = Callable[[Path, Sequence[Change]], Awaitable[Reason | None]]
"""Why the changes don't fit the worktree, or None; it may leave them there, as the caller restores the worktree."""

_FILES_MODES = (None, "100644", "100755")
_PART = re.compile(r"^diff --git ", re.MULTILINE)
_SHOWN = 80
_NAMED = 5
"""Documents that a note names."""


@dataclass(frozen=True, slots=True)
class HistoryAgent:
    """Proposes the patch of the best known resolution for the failures of its task.

    Only proven and merged resolutions of the same error text are used (`rules.history.known_errors`). They are ranked
    by how often they helped, then by last use. Skipped are patches that did not help these errors before (by hash),
    that this run has tried (by lines), that are no plain diff of files, and that do not fit. If none is left it
    proposes nothing and gives the reason. All source and test parts must fit; parts of changelogs and documents that
    do not fit are left out, and the note names their files."""

    look_up: LookUp
    dead_ends: DeadEnds
    fits: Fits | None = None
    name: str = "history"

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        errors = task.fingerprints
        if not errors:
            return self._nothing(make_reason("history.no_error"), untouched=True)
        proven = [known for known in await self.look_up(errors) if may_be_replayed(known)]
        if not proven:
            return self._nothing(make_reason("history.no_patch"), untouched=True)
        dead = await self.dead_ends(errors)
        tried = {changed_lines(patch) for patch in task.failed_patches}
        reasons: list[Reason] = []
        for known in sorted(proven, key=_rank, reverse=True):
            found = await self._changes(known.resolution, dead, tried, tree)
            if not isinstance(found, Reason):
                return self._replay(known, *found)
            reasons.append(make_reason("history.record", id=known.id, why=found))
        return self._nothing(all_reasons(reasons))

    async def _changes(
        self, resolution: Resolution, dead: frozenset[str], tried: Iterable[str], tree: Path
    ) -> tuple[tuple[Change, ...], tuple[str, ...]] | Reason:
        """The changes of a resolution's patch with the documents that lost a part, or why it is skipped."""
        patch = resolution.patch or ""
        if not dead.isdisjoint({resolution.diff_hash, patch_hash(patch)}):
            return make_reason("history.no_help")
        if changed_lines(patch) in tried:
            return make_reason("history.tried")
        changes = split_patch(patch)
        if isinstance(changes, Reason):
            return changes
        if self.fits is None or (why := await self.fits(tree, changes)) is None:
            return changes, ()
        # all or nothing was written: here nothing
        documents = [change for change in changes if is_document(change.path)]
        source = tuple(change for change in changes if change not in documents)
        if not (source and documents):
            return make_reason("history.misfit", why=why)
        if (source_problem := await self.fits(tree, source)) is not None:
            return make_reason("history.misfit", why=source_problem)
        return await self._with_documents(tree, source, documents)

    async def _with_documents(
        self, tree: Path, source: tuple[Change, ...], documents: Sequence[Change]
    ) -> tuple[tuple[Change, ...], tuple[str, ...]]:
        """The changes of the source, which are in the worktree, and those parts of the documents that fit."""
        assert self.fits is not None
        changes, left_out = list(source), []
        for part in (part for change in documents for part in by_hunk(change)):
            if await self.fits(tree, (part,)) is None:
                changes.append(part)
            else:
                left_out.append(part.path)
        return tuple(changes), tuple(dict.fromkeys(left_out))

    def _replay(self, known: KnownError, changes: tuple[Change, ...], left_out: Sequence[str]) -> Proposal:
        resolution, note = known.resolution, _note(known)
        if left_out:
            kind = "history.repeats_in_part.more" if left_out[_NAMED:] else "history.repeats_in_part"
            note = make_reason(kind, what=note, paths=", ".join(left_out[:_NAMED]))
        return Proposal(
            agent=self.name,
            offered=True,
            changes=changes,
            note=note,
            tools=resolution.tool_sequence,
            replays=resolution.diff_hash or patch_hash(resolution.patch or ""),
        )

    def _nothing(self, because: Reason, *, untouched: bool = False) -> Proposal:
        return Proposal(agent=self.name, offered=False, because=because, untouched=untouched)


def patch_hash(patch: str) -> str:
    """The hash by which a patch is stored: SHA-256 of its text, in hexadecimal."""
    return sha256(patch.encode("utf-8", "surrogateescape")).hexdigest()


def changed_lines(patch: str) -> str:
    """The paths and the added and removed lines of a patch, equal for patches that make the same change.

    Line numbers, context and object ids are left out."""
    lines = [
        (part.paths, [line for hunk in part.hunks for line in hunk.lines if line.startswith(("+", "-"))])
        for part in parse_diff(patch)
    ]
    return repr(lines)


def split_patch(patch: str) -> tuple[Change, ...] | Reason:
    """The changes of a diff as git prints it, one for each file; or why it cannot be split.

    New, deleted and executable files are supported. Renames, binary files, links, submodules and a diff that has lost
    bytes are not."""
    starts = [found.start() for found in _PART.finditer(patch)]
    if not starts or patch[: starts[0]].strip():
        return make_reason("history.patch.format")
    changes: list[Change] = []
    for start, end in zip(starts, [*starts[1:], len(patch)], strict=True):
        parts = parse_diff(patch[start:end])
        if len(parts) != 1:
            return make_reason("history.patch.format")
        if problem := _problem(parts[0]):
            return make_reason(f"history.patch.{problem}")
        changes.append(Change(path=parts[0].paths[0], patch=patch[start:end]))
    paths = [change.path for change in changes]
    return tuple(changes) if len(set(paths)) == len(paths) else make_reason("history.patch.twice")


def by_hunk(change: Change) -> tuple[Change, ...]:
    """A change of one file, split into one for each hunk; unsplit for one hunk, or if it adds or deletes the file."""
    patch = change.patch or ""
    (part,) = parse_diff(patch)
    if len(part.hunks) < 2 or part.creates or part.deletes:
        return (change,)
    head = patch[: patch.index("\n@@ ")]
    return tuple(Change(path=change.path, patch="\n".join((head, hunk.header, *hunk.lines))) for hunk in part.hunks)


def _problem(part: FileDiff) -> str | None:
    if part.binary:
        return "binary"
    if part.moved:
        return "renames"
    if len(part.paths) != 1 or not _is_text(part.paths[0]):
        return "names"
    if part.new_mode not in _FILES_MODES or any(mode not in _FILES_MODES for mode in part.modes):
        return "link"
    if not (part.hunks or part.new_mode or part.creates or part.deletes):
        return "nothing"
    if any(line.startswith("+") and "\ufffd" in line for hunk in part.hunks for line in hunk.lines):
        return "bytes"  # `Tree.diff` replaces them, so they are lost
    return None


def _is_text(path: str) -> bool:
    """Whether the path is UTF-8: surrogates stand for bytes that are not."""
    return not any("\ud800" <= sign <= "\udfff" for sign in path)


def _rank(known: KnownError) -> tuple[float, str]:
    return weight(known.shown, known.passed), known.last_used


def _note(known: KnownError) -> Reason:
    """Which record of the history is repeated."""
    resolution = known.resolution
    error = known.error if len(known.error) <= _SHOWN else f"{known.error[: _SHOWN - 1]}…"
    values: dict[str, str | int] = {"id": known.id, "error": error}
    if resolution.pull_request is not None:
        values["pull"] = f"{resolution.repo or ''}#{resolution.pull_request}"
    if resolution.commit:
        values["commit"] = resolution.commit[:12]
    where = "_".join(name for name in ("pull", "commit") if name in values)
    return make_reason(f"history.repeats_{where or 'record'}", **values)
