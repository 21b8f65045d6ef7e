"""The agent that repeats what helped before: the patch of a proven resolution of the very error that fails now.
It knows nothing of the history but what it is given, and offers nothing rather than a patch that it can't say whole."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from bot.model import AgentTask, Change, KnownError, Proposal, Resolution
from bot.model.reasons import Reason
from bot.rules.history.known_errors import weight
from bot.rules.patches.diff_parser import FileDiff, parse_diff
from bot.rules.patches.document_files import is_document
from bot.rules.reasons import all_reasons, make_reason

LookUp = Callable[[Sequence[str]], Awaitable[Sequence[KnownError]]]
"""The known resolutions, with their patches, of errors by their fingerprints, as far as this repository may know."""
DeadEnds = Callable[[Sequence[str]], Awaitable[frozenset[str]]]
"""The hashes of patches that did not help against one of the errors."""
Fits = Callable[[Path, Sequence[Change]], Awaitable[Reason | None]]
"""Why the changes don't fit the tree, or None; it may leave them in the tree, as the caller puts that back."""

_FILES_MODES = (None, "100644", "100755")
_PART = re.compile(r"^diff --git ", re.MULTILINE)
_SHOWN = 80
_NAMED = 5
"""Documents that a note names."""


@dataclass(frozen=True, slots=True)
class HistoryDeveloper:
    """Offers the patch of the best resolution known for the failures of its task: the same text before one that is
    alike, then the one that helped most often where it was shown, then the one used last.

    Passed over is what did not help these errors before (by its hash), what this run has tried (by its lines), what
    is no plain diff of files and what does not fit; if that is everything, it offers nothing and gives the reason. All
    source and test parts must fit; of changelogs and documents the parts that don't are left out, and the note names
    the files."""

    look_up: LookUp
    dead_ends: DeadEnds
    fits: Fits | None = None
    name: str = "history"

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        errors = task.fingerprints
        if not errors:
            return self._nothing(make_reason("history.no_error"), untouched=True)
        proven = [known for known in await self.look_up(errors) if known.resolution.patch]
        if not proven:
            return self._nothing(make_reason("history.no_patch"), untouched=True)
        dead = await self.dead_ends(errors)
        tried = {gist(patch) for patch in task.failed_patches}
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
        """The changes of a resolution's patch and the documents of which something is left out, or why it is passed
        over."""
        patch = resolution.patch or ""
        if not dead.isdisjoint({resolution.diff_hash, patch_hash(patch)}):
            return make_reason("history.no_help")
        if gist(patch) in tried:
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
        if (beside := await self.fits(tree, source)) is not None:
            return make_reason("history.misfit", why=beside)
        return await self._with_documents(tree, source, documents)

    async def _with_documents(
        self, tree: Path, source: tuple[Change, ...], documents: Sequence[Change]
    ) -> tuple[tuple[Change, ...], tuple[str, ...]]:
        """The changes of the source, which are in the tree, with each part of the documents' that fits."""
        assert self.fits is not None
        kept, left = list(source), []
        for part in (part for change in documents for part in by_hunk(change)):
            if await self.fits(tree, (part,)) is None:
                kept.append(part)
            else:
                left.append(part.path)
        return tuple(kept), tuple(dict.fromkeys(left))

    def _replay(self, known: KnownError, changes: tuple[Change, ...], left_out: Sequence[str]) -> Proposal:
        resolution = known.resolution
        without = f"; left out what does not fit in {', '.join(left_out[:_NAMED])}" if left_out else ""
        more = " and more" if left_out[_NAMED:] else ""
        return Proposal(
            agent=self.name,
            offered=True,
            changes=changes,
            note=f"repeats {_record(known)}{without}{more}",
            tools=resolution.tool_sequence,
            replays=resolution.diff_hash or patch_hash(resolution.patch or ""),
        )

    def _nothing(self, because: Reason, *, untouched: bool = False) -> Proposal:
        return Proposal(agent=self.name, offered=False, because=because, untouched=untouched)


def patch_hash(patch: str) -> str:
    """The hash under which a patch is remembered: SHA-256 of its text, in hexadecimal."""
    return sha256(patch.encode("utf-8", "surrogateescape")).hexdigest()


def gist(patch: str) -> str:
    """What two patches share that do the same in files that differ elsewhere: their paths, and the lines that come and
    go. Numbers, context and object ids are left out."""
    lines = [
        (part.paths, [line for hunk in part.hunks for line in hunk.lines if line.startswith(("+", "-"))])
        for part in parse_diff(patch)
    ]
    return repr(lines)


def split_patch(patch: str) -> tuple[Change, ...] | Reason:
    """A diff as git prints it, as one change for each file; or why it cannot be split so.

    Files that come, go or become executable are; renames, binary files, links and submodules are not, nor is a diff
    whose text has lost bytes."""
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
    """A change of one file as one for each hunk of its diff, in order; itself where that has fewer than two, or where
    the file comes or goes."""
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
    """A path of bytes that are no UTF-8 has halves of characters in it."""
    return not any("\ud800" <= sign <= "\udfff" for sign in path)


def _rank(known: KnownError) -> tuple[bool, float, str]:
    return known.exact, weight(known.shown, known.passed), known.last_used


def _record(known: KnownError) -> str:
    """Which record it is, for the run's story."""
    resolution = known.resolution
    error = known.error if len(known.error) <= _SHOWN else f"{known.error[: _SHOWN - 1]}…"
    where = [f"{resolution.repo or ''}#{resolution.pull_request}"] if resolution.pull_request is not None else []
    where += [f"commit {resolution.commit[:12]}"] if resolution.commit else []
    return f"resolution {known.id} of `{error}`" + (f" ({', '.join(where)})" if where else "")
