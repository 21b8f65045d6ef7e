"""Applies a diff by its lines instead of its line numbers: models get counts, line numbers and white space wrong.
All hunks are placed before anything is written, and an ambiguous hunk is refused (REQ-RUN-003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from bot.model.reasons import Reason
from bot.rules.patches.diff_parser import Hunk
from bot.rules.patches.hunk_lines import Body, body_of, is_elision
from bot.rules.patches.hunk_placement import HunkPlacement, Text, beside_a_wrong_line, fits_near, hunk_placements
from bot.rules.patches.indentation import AddedLines, MatchedLine, indented
from bot.rules.reasons import make_reason

_APART = 10  # lines: a line number is believed only where no other place is nearer than this to the one it names
_LOST = 5  # lines of context that a model may have cut off before a hunk

PatchProblem = Literal[
    "mixed_line_ends", "no_anchor", "not_found", "ambiguous", "overlap",
    "indentation", "elided", "too_much", "no_change",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unclear:
    """Why a diff was not applied: a stable code, and what names the hunk."""

    reason: PatchProblem
    because: Reason


@dataclass(frozen=True, slots=True)
class _Edit:
    """Lines `start` up to `end` (from 0) are replaced by `new`."""

    start: int
    end: int
    new: tuple[str, ...]
    hunk: int


@dataclass(frozen=True, slots=True)
class _Sought:
    """A hunk and the places where it may belong; the first is right once the list holds one."""

    number: int
    hunk: Hunk
    body: Body
    found: tuple[HunkPlacement, ...]


def matches_header_positions(original: str, hunks: Sequence[Hunk]) -> bool:
    """Whether each hunk's header is correct and its lines are exactly there, so that `git apply` does not search. It
    would take the nearest place that fits, or the end of the file for a hunk without context after its changes."""
    lines = original.removesuffix("\n").split("\n") if original else []
    shift = 0
    for hunk in hunks:
        starts, old = hunk.starts, list(hunk.old_lines)
        if not hunk.counted or starts is None or (lines and not old):
            return False
        added = sum(line[:1] == "+" for line in hunk.lines)
        kept = sum(line[:1] in ("", " ", "\r") for line in hunk.lines)
        first = starts[0] - 1 if old else starts[0]
        if starts[1] != first + shift + (1 if added + kept else 0) or lines[first : first + len(old)] != old:
            return False
        if not _newline_matches(hunk, first + len(old) == len(lines), original.endswith("\n")):
            return False
        shift += added + kept - len(old)
    return True


def _newline_matches(hunk: Hunk, at_end: bool, newline: bool) -> bool:
    """Whether the hunk's note on the last newline is correct for a hunk at the end of the file, and missing for any
    other. A hunk in the middle needs context after its changes."""
    marked = _marked(hunk)
    if at_end:
        return not hunk.old_lines or bool(marked & {"-", " "}) != newline
    return not marked and hunk.lines[-1][:1] not in ("-", "+")


def _marked(hunk: Hunk) -> set[str]:
    """On which sides a `\\ No newline at end of file` stands."""
    return {before[:1] for before, line in pairwise(hunk.lines) if line[:1] == "\\"}


def apply_fuzzily(original: str, hunks: Sequence[Hunk]) -> str | Unclear:
    """The text after the diff, or why it cannot be applied without doubt. It never adds, removes or repeats a line that
    the diff does not.

    The line ends stay, and so does a missing last newline unless the diff changes it. Added lines get the file's
    indentation where the hunk's other lines prove the difference."""
    crlf = original.count("\r\n")
    if original.count("\r") != crlf or crlf not in (0, original.count("\n")):
        return Unclear("mixed_line_ends", make_reason("patch.mixed_line_ends"))
    plain = original.replace("\r\n", "\n")
    text = Text(plain.removesuffix("\n").split("\n") if plain else ())
    sought = _sought(text, hunks)
    if isinstance(sought, Unclear):
        return sought
    placed = _settled(sought, text)
    if isinstance(placed, Unclear):
        return placed
    edits = _all_edits(placed, text)
    if isinstance(edits, Unclear):
        return edits
    new = _written(text, edits)
    if isinstance(new, Unclear):
        return new
    ended = "\n" if new and _ends_with_newline(placed, text, plain.endswith("\n") or not plain) else ""
    return ("\n".join(new) + ended).replace("\n", "\r\n" if crlf else "\n")


def _sought(text: Text, hunks: Sequence[Hunk]) -> list[_Sought] | Unclear:
    """Every hunk that changes something, with its places."""
    sought: list[_Sought] = []
    for number, hunk in enumerate(hunks):
        body = body_of(hunk)
        if not body.added and not any(line.removed for line in body.old):
            if not hunk.counted:
                return _unclear("no_change", hunk)
            continue
        added = [line for lines in body.added.values() for line in lines]
        shorter = sum(line.removed for line in body.old) > len(added)
        if shorter and any(_is_placeholder(line, text) for line in added):
            return _unclear("elided", hunk)
        if body.old:
            found = hunk_placements(body, text)
        elif text.lines or sought:
            return _unclear("no_anchor", hunk)
        else:
            found = (HunkPlacement(inserted=(0,), pairs=((0, 0),)),)
        if found is None:
            return _unclear("too_much", hunk)
        if not found:
            named_line = hunk.starts[0] - 1 if hunk.starts is not None and hunk.counted else None
            found = beside_a_wrong_line(body, text, named_line)
        if not found:
            return _unclear("not_found", hunk)
        if len(found) == 1 and _contradicted(hunk, body, found[0], text):
            return _unclear("ambiguous", hunk, "contradicted")
        sought.append(_Sought(number, hunk, body, found))
    return sought or Unclear("no_change", make_reason("patch.no_change"))


def _contradicted(hunk: Hunk, body: Body, place: HunkPlacement, text: Text) -> bool:
    """Whether a hunk that lacks lines, by its own counts, fits some place only for that reason."""
    if hunk.starts is None or hunk.counted or abs(place.start + 1 - hunk.starts[0]) < _APART:
        return False
    return fits_near(body, text, hunk.starts[0] - 1)


def _unclear(reason: PatchProblem, hunk: Hunk, kind: str = "", **count: int) -> Unclear:
    return Unclear(reason, make_reason(f"hunk.{kind or reason}", hunk=hunk.header.strip()[:60], **count))


def _is_placeholder(line: str, text: Text) -> bool:
    """An added `# ... rest unchanged ...`: it stands for lines that the model did not write down."""
    words = ("existing", "unchanged", "rest ", "same ", "remain", "previous")
    return is_elision(line) and any(word in line.casefold() for word in words) and line not in text.lines


def _settled(sought: Sequence[_Sought], text: Text) -> list[_Sought] | Unclear:
    """The hunks with one place each."""
    settled: list[_Sought] = []
    for item in sought:
        found = item.found
        if len(found) > 1:
            found = _same_result(item, text) or _twins(item, sought) or _by_header(item, sought, text)
        if len(found) != 1:
            return _unclear("ambiguous", item.hunk, count=len(item.found))
        if None in found[0].inserted:
            return _unclear("ambiguous", item.hunk, "one_sided")
        settled.append(_Sought(item.number, item.hunk, item.body, found))
    return settled


def _same_result(item: _Sought, text: Text) -> tuple[HunkPlacement, ...]:
    """One of the places, where all have the same result, such as which of two equal lines is removed."""
    results = set()
    for place in item.found[:20]:
        if None in place.inserted:
            return ()
        edits = _all_edits([_Sought(item.number, item.hunk, item.body, (place,))], text)
        new = edits if isinstance(edits, Unclear) else _written(text, edits)
        results.add(None if isinstance(new, Unclear) else tuple(new))
    return item.found[:1] if len(results) == 1 and None not in results and len(item.found) <= 20 else ()


def _twins(item: _Sought, sought: Sequence[_Sought]) -> tuple[HunkPlacement, ...]:
    """One place for each of several equal hunks, where there are as many places."""
    twins = [other.number for other in sought if other.hunk.lines == item.hunk.lines]
    return (item.found[twins.index(item.number)],) if len(twins) == len(item.found) else ()


def _by_header(item: _Sought, sought: Sequence[_Sought], text: Text) -> tuple[HunkPlacement, ...]:
    """The one place at which the header points beyond doubt, else none."""
    starts = item.hunk.starts
    sure = [other for other in sought if len(other.found) == 1 and other.hunk.starts]
    offsets = {other.found[0].start + 1 - other.hunk.starts[0] for other in sure if other.hunk.starts}
    if starts is None or len(offsets) > 1 or not (offsets or item.hunk.counted):
        return _by_section(item, text)
    named_line = starts[0] - 1 + (offsets.pop() if offsets else 0)
    right = tuple(place for place in item.found if place.start == named_line)
    far = all(place in right or abs(place.start - named_line) >= _APART for place in item.found)
    return right if len(right) == 1 and far else ()


def _by_section(item: _Sought, text: Text) -> tuple[HunkPlacement, ...]:
    """The places that come after the line which the header names behind its numbers."""
    section = item.hunk.section
    if not section:
        return ()
    # context may have been lost at the hunk's start, and the start of a function with it
    above = {place: text.sections[max(0, place.start - _LOST) : place.start + 1] for place in item.found}
    return tuple(place for place, lines in above.items() if any(line.startswith(section) for line in lines))


def _all_edits(placed: Sequence[_Sought], text: Text) -> list[_Edit] | Unclear:
    elsewhere = [line for item in placed for line in _seen(item, text)]
    edits: list[_Edit] = []
    for item in placed:
        made = _edits(item, text, elsewhere)
        if isinstance(made, Unclear):
            return made
        edits += made
    return edits


def _seen(item: _Sought, text: Text) -> list[MatchedLine]:
    old = item.body.old
    return [
        MatchedLine(old[at].text, text.lines[line], old[at].removed)
        for at, line in item.found[0].pairs
        if at < len(old)
    ]


def _edits(item: _Sought, text: Text, elsewhere: Sequence[MatchedLine]) -> list[_Edit] | Unclear:
    """The edits of a placed hunk; `elsewhere` is the matched lines of all hunks of the diff."""
    seen, place = _seen(item, text), item.found[0]
    edits = [_Edit(line, line + 1, (), item.number) for line in place.removed]
    for where, line in zip(sorted(item.body.added), place.inserted, strict=True):
        new = indented(_block(item, where, text), seen, elsewhere)
        if new is None:
            return _unclear("indentation", item.hunk)
        assert line is not None
        edits.append(_Edit(line, line, new, item.number))
    return edits


def _block(item: _Sought, where: int, text: Text) -> AddedLines:
    full = [(at, line) for at, line in item.found[0].pairs if at < len(item.body.old) and item.body.old[at].key]
    beside = {at: MatchedLine(item.body.old[at].text, text.lines[line], item.body.old[at].removed) for at, line in full}
    above = max((at for at in beside if at < where), default=None)
    below = min((at for at in beside if at >= where), default=None)
    return AddedLines(
        item.body.added[where],
        None if above is None else beside[above],
        None if below is None else beside[below],
    )


def _written(text: Text, edits: Sequence[_Edit]) -> list[str] | Unclear:
    """The file's lines after all edits; a line may be removed once, and lines be added at a point by one hunk only."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    new: list[str] = []
    at = 0
    for edit, following in zip(ordered, [*ordered[1:], None], strict=True):
        if following is not None and edit.hunk != following.hunk and _touch(edit, following):
            return Unclear("overlap", make_reason("patch.overlap"))
        new += [*text.lines[at : edit.start], *edit.new]
        at = edit.end
    return [*new, *text.lines[at:]]


def _touch(edit: _Edit, following: _Edit) -> bool:
    if edit.start == edit.end or following.start == following.end:
        return following.start <= edit.end
    return following.start < edit.end


def _ends_with_newline(placed: Sequence[_Sought], text: Text, before: bool) -> bool:
    """Whether the file shall end with a newline: as before, but where a hunk that reaches the file's end has a
    `\\ No newline` on one side only."""
    for item in placed:
        # -1 on both sides: an empty file, and no old line
        reaches = dict(item.found[0].pairs).get(len(item.body.old) - 1, -1) == len(text.lines) - 1
        if reaches and (marked := _marked(item.hunk)) in ({"-"}, {"+"}):
            return marked == {"-"}
    return before
