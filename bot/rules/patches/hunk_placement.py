"""Finds where the lines of a hunk stand in a file, when the hunk is not quite what the file holds.
Every removed line must be there; context may be missing here and there, at a cost that ranks the places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property

from bot.rules.patches.hunk_lines import TELLING, Body, squeezed

MARGIN = TELLING
"""How much farther from the hunk a second place must be: as much as one identifying line of context."""
_LIKE = 0.6
"""From which share of equal characters on a line is taken for a wrong copy of another."""
_LIKE_CHARS = 300
_REACH = 12  # lines of the file that may stand between two lines of a hunk
_SKIPPED = 6  # lines of context in a row that may be wrong
_PAIRS = 20_000  # pairs of equal lines for a hunk: hostile input must not hold the process up
_WORK = 200_000  # alignments, and lines compared, for a file


@dataclass(frozen=True, slots=True)
class HunkPlacement:
    """One way to lay a hunk over a file. Line numbers count from 0.

    `removed` are the lines that go, in order; `inserted` the lines before which each run of added lines comes, None
    where the hunk leaves it open; `pairs` which old line was found where. `cost` is for what the hunk holds and the
    file does not, `spaces` counts the lines whose white space differs; with both 0 all stands as in the hunk."""

    cost: int = 0
    spaces: int = 0
    removed: tuple[int, ...] = ()
    inserted: tuple[int | None, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def distance(self) -> int:
        """From the hunk."""
        return self.cost + self.spaces

    @property
    def start(self) -> int:
        """Where the hunk's first old line stands or would stand."""
        first, line = self.pairs[0]
        return line - first

    @property
    def effect(self) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
        return self.removed, self.inserted


class Text:
    """A file's lines, without their ends, and where each is found."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        self.work = 0

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """The lines without white space at their ends."""
        return tuple(line.rstrip() for line in self.lines)

    @cached_property
    def sections(self) -> tuple[str, ...]:
        """For each line the last one before it that git takes for the start of a function: it begins with a letter,
        `_` or `$` (gitattributes, "Defining a custom hunk-header")."""
        sections = [""]
        for line in self.lines:
            sections.append(line if line[:1].isalpha() or line.startswith(("_", "$")) else sections[-1])
        return tuple(sections)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple(map(squeezed, self.lines))

    @cached_property
    def found(self) -> Mapping[str, list[int]]:
        """The line numbers of each key, ascending."""
        found: dict[str, list[int]] = {}
        for number, key in enumerate(self.keys):
            found.setdefault(key, []).append(number)
        return found


def hunk_placements(body: Body, text: Text) -> tuple[HunkPlacement, ...] | None:
    """The best places of a hunk that has old lines: those of equal cost, best first;
    none where it does not fit; None where it is too much work."""
    exact = _perfect(body, text)
    if exact is None or exact:
        return exact
    elided = body.elide()
    found = _aligned(elided, text)
    if not found:
        return found
    return found if found[0].cost <= elided.limit and all(_supported(elided, way) for way in found) else ()


def fits_near(body: Body, text: Text, line: int) -> bool:
    """Whether the hunk belongs about this line, if some of its context was left out or is wrong."""
    first = max(0, line - _REACH)
    return bool(_aligned(body.elide(), Text(text.lines[first : line + len(body.old) + _REACH])))


def _perfect(body: Body, text: Text) -> tuple[HunkPlacement, ...] | None:
    """Where the old lines stand one after another: as they are, but for white space at their ends; else but for any.

    A line or two may stand elsewhere with another indentation, and either place be meant."""
    rarest = min(range(len(body.old)), key=lambda at: len(text.found.get(body.old[at].key, ())))
    starts = [line - rarest for line in text.found.get(body.old[rarest].key, ()) if line >= rarest]
    text.work += 2 * len(starts) * (1 + len(body.old) // 20)
    if text.work > _WORK:
        return None
    loose, tight = tuple(line.key for line in body.old), tuple(line.text.rstrip() for line in body.old)
    found = [at for at in starts if text.keys[at : at + len(loose)] == loose]
    exact = [at for at in found if text.ends[at : at + len(tight)] == tight]
    identified = sum(body.weights) >= 2 * TELLING
    return tuple(_straight(body, at) for at in (exact if exact and identified else found))


def beside_a_wrong_line(body: Body, text: Text, named_line: int | None) -> tuple[HunkPlacement, ...]:
    """The one place of a hunk of which all stands in the file but for one line of context, else none.

    What is removed has to stand there as it is and nowhere else. The line of context is a wrong one of that place where
    it looks like the line there, or the header's line, `named_line` (from 0), is that place."""
    gone = [at for at, line in enumerate(body.old) if line.removed]
    if sum(body.weights[at] for at in gone) < TELLING:
        return ()
    rarest = min(gone, key=lambda at: len(text.found.get(body.old[at].key, ())))
    starts = [line - rarest for line in text.found.get(body.old[rarest].key, ()) if line >= rarest]
    text.work += 2 * len(starts) * (1 + len(body.old) // 20)
    if text.work > _WORK:
        return ()
    last = len(text.lines) - len(body.old)
    fits = [at for at in starts if at <= last and all(text.keys[at + one] == body.old[one].key for one in gone)]
    if len(fits) != 1:
        return ()
    (start,) = fits
    wrong = [at for at, line in enumerate(body.old) if text.keys[start + at] != line.key]
    exact = all(text.ends[start + at] == body.old[at].text.rstrip() for at in gone)
    if len(wrong) != 1 or not exact:
        return ()
    alike = SequenceMatcher(None, body.old[wrong[0]].text[:_LIKE_CHARS], text.lines[start + wrong[0]][:_LIKE_CHARS])
    if start != named_line and alike.ratio() < _LIKE:
        return ()
    place = _straight(body, start)
    return (replace(place, cost=body.weights[wrong[0]], pairs=tuple(p for p in place.pairs if p[0] != wrong[0])),)


def _straight(body: Body, start: int) -> HunkPlacement:
    removed = tuple(start + at for at, line in enumerate(body.old) if line.removed)
    inserted = tuple(start + at for at in sorted(body.added))
    return HunkPlacement(0, 0, removed, inserted, tuple((at, start + at) for at in range(len(body.old))))


def _aligned(body: Body, text: Text) -> tuple[HunkPlacement, ...] | None:
    """The cheapest ways to find the old lines in order, by the usual table of partial alignments: for each pair of
    equal lines the two best ways to get there that differ in what they do to the file."""
    pairs = sum(len(text.found.get(line.key, ())) for line in body.old)
    text.work += pairs
    if pairs > _PAIRS:
        return None
    table: list[dict[int, tuple[HunkPlacement, ...]]] = []
    for at, line in enumerate(body.old):
        row: dict[int, tuple[HunkPlacement, ...]] = {}
        for number in text.found.get(line.key, ()):
            ways = _ways(body, text, table, at, number)
            text.work += len(ways)
            if text.work > _WORK:
                return None
            if ways:
                row[number] = _two_best(ways)
        table.append(row)
    ended = [
        end
        for at, row in enumerate(table)
        if not any(line.removed for line in body.old[at + 1 :])
        for ways in row.values()
        for way in ways
        if (end := _finished(body, way)).cost < body.limit + MARGIN
    ]
    return _as_good(ended)


def _ways(
    body: Body, text: Text, table: Sequence[Mapping[int, tuple[HunkPlacement, ...]]], at: int, line: int
) -> list[HunkPlacement]:
    """The partial alignments that end with old line `at` found at `line`."""
    spaces = int(body.old[at].text.rstrip() != text.ends[line])
    ways = []
    if sum(body.weights[:at]) < body.limit + MARGIN and not any(before.removed for before in body.old[:at]):
        inserted = tuple(line if where == at else None for where in sorted(body.added) if where <= at)
        removed = (line,) if body.old[at].removed else ()
        ways.append(HunkPlacement(sum(body.weights[:at]), spaces, removed, inserted, ((at, line),)))
    for last in range(at - 1, max(-1, at - 2 - _SKIPPED), -1):
        skipped = body.old[last + 1 : at]
        elided = any(one.elided for one in skipped)
        text.work += len(table[last]) // 10 if elided else 0
        for number, before in _reached(table[last], line, at - last, elided):
            gap = 0 if elided else _gap(text, line - number - (at - last), number)
            cost = gap + sum(body.weights[last + 1 : at])
            near = (way for way in before if way.cost + cost < body.limit + MARGIN)
            ways += [_extended(body, way, (at, line), cost, spaces) for way in near]
        if body.old[last].removed:
            break
    return ways


def _reached(
    row: Mapping[int, tuple[HunkPlacement, ...]], line: int, distance: int, elided: bool
) -> Iterator[tuple[int, tuple[HunkPlacement, ...]]]:
    if elided:
        # wherever the text before the dots is, going on from there costs the same
        for best in _two_best([way for number, ways in row.items() if number < line for way in ways]):
            yield best.pairs[-1][1], (best,)
        return
    for number in range(line - 1, max(-1, line - distance - _REACH - 1), -1):
        if number in row:
            yield number, row[number]


def _gap(text: Text, extra: int, after: int) -> int:
    """What it costs that the file has so many lines more (or fewer) than the hunk between two of its lines."""
    if extra <= 0:
        return 1 if extra else 0
    blank = all(not key for key in text.keys[after + 1 : after + 1 + extra])
    return 1 if blank else 2 + extra


def _extended(body: Body, way: HunkPlacement, pair: tuple[int, int], cost: int, spaces: int) -> HunkPlacement:
    at, line = pair
    last, number = way.pairs[-1]
    inserted = tuple(
        _insertion(body, where, (last, number), pair) for where in sorted(body.added) if last < where <= at
    )
    removed = (*way.removed, line) if body.old[at].removed else way.removed
    return HunkPlacement(way.cost + cost, way.spaces + spaces, removed, way.inserted + inserted, (*way.pairs, pair))


def _insertion(body: Body, where: int, before: tuple[int, int], after: tuple[int, int]) -> int | None:
    """Before which line of the file lines come that stand between two old lines which were found; None where lines
    of the file lie between them and nothing shows on which side the added ones belong."""
    last, number = before
    at, line = after
    if line - number == at - last and not any(one.elided for one in body.old[last + 1 : at]):
        return number + where - last
    sure_after = where == last + 1 and (body.old[last].removed or (where < at and body.old[where].elided))
    sure_before = where == at and (body.old[at].removed or (where > last + 1 and body.old[where - 1].elided))
    if sure_after:
        return number + 1
    return line if sure_before else None


def _finished(body: Body, way: HunkPlacement) -> HunkPlacement:
    """With what stands after the last old line that was found."""
    last, number = way.pairs[-1]
    inserted = tuple(number + 1 if where == last + 1 else None for where in sorted(body.added) if where > last)
    return replace(way, cost=way.cost + sum(body.weights[last + 1 :]), inserted=way.inserted + inserted)


def _supported(body: Body, way: HunkPlacement) -> bool:
    """Whether every changed line has an identifying one beside it, or is one: a run of lines as in the hunk."""
    runs: dict[int, int] = {}
    for at, line in way.pairs:
        runs[line - at] = runs.get(line - at, 0) + body.weights[at]
    found = dict(way.pairs)
    changed = {at for at, line in enumerate(body.old) if line.removed} | {
        at if at in found else at - 1 for at in body.added
    }
    return all(at in found and runs[found[at] - at] >= TELLING for at in changed)


def _two_best(ways: Sequence[HunkPlacement]) -> tuple[HunkPlacement, ...]:
    best = min(ways, key=lambda way: way.distance, default=None)
    others = [way for way in ways if best and way.effect != best.effect]
    second = min(others, key=lambda way: way.distance, default=None)
    return tuple(way for way in (best, second) if way is not None)


def _as_good(ended: Sequence[HunkPlacement]) -> tuple[HunkPlacement, ...]:
    """The best place, and those that are not clearly worse, one for each effect. One that merely finds fewer of the
    lines which another finds is no place of its own."""
    found: list[HunkPlacement] = []
    for way in sorted(ended, key=lambda way: way.distance):
        if way.distance >= (found or [way])[0].distance + MARGIN:
            break
        if not any(way.effect == one.effect or set(way.pairs) < set(one.pairs) for one in found):
            found.append(way)
    return tuple(found)
