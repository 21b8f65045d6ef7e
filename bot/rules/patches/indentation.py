"""Gives added lines the file's indentation, where a hunk's other lines prove how the two go together.
A model that copies a block may move all of it to the left, or write spaces for tabs; what isn't proven is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

_STEPS = ("\t", "  ", "    ")
_WIDTHS = ("  ", "    ", "        ")
_UNITS = (*((width, "\t") for width in _WIDTHS), *(("\t", width) for width in _WIDTHS))
_ANY_DEPTH = ("#", "//", "/*")
_OPENING = (":", "{", "(", "[", "=>")


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line of a hunk that was found: as the hunk has it and as the file has it."""

    written: str
    there: str
    removed: bool


@dataclass(frozen=True, slots=True)
class AddedLines:
    """Added lines that follow each other, and the lines with text that stand before and after them in the hunk."""

    lines: tuple[str, ...]
    above: MatchedLine | None = None
    below: MatchedLine | None = None


def indented(
    block: AddedLines, seen: Sequence[MatchedLine], elsewhere: Sequence[MatchedLine] = ()
) -> tuple[str, ...] | None:
    """The added lines as the file would have them; None where the lines that were found don't prove how.

    They stay as they are where the removed lines agree with the file: then only the context was copied carelessly.
    Lines without any indentation prove nothing; where a hunk has no others, the diff's other hunks (`elsewhere`) tell
    whether it writes tabs for spaces."""
    full, removed = _pairs(seen), _pairs(line for line in seen if line.removed)
    if not any(map(any, full)):
        return _as_elsewhere(block.lines, _pairs(elsewhere))
    changed = {pair for pair in removed if any(pair)}
    if _agree(changed or full) or not any(line.strip() for line in block.lines):
        return block.lines
    if not changed and all(_lost_marker(written, there) for written, there in full):
        return block.lines
    mapping = dict(full)
    alike = len(mapping) == len(full)
    by_unit = alike and _in_other_units("", mapping) is not None
    if removed and _agree(removed) and not by_unit:
        return block.lines
    if not alike or not (removed or by_unit or _moved_with_context(block)):
        return None
    return _whole([_reindented(line, mapping) for line in block.lines])


def _agree(pairs: Iterable[tuple[str, str]]) -> bool:
    return all(written == there for written, there in pairs)


def _moved_with_context(block: AddedLines) -> bool:
    """Whether the added lines fit the context as the hunk has it, and can't be meant as they are: deeper than what
    they follow, or less deep than both what is before and what is after them (which comments and directives may be).
    Else the context alone may be moved."""
    lines = [line for line in block.lines if line.strip()]
    first = _indent(lines[0])
    if block.above is None or first not in _levels(block, lambda line: line.written):
        return False
    above = _indent(block.above.there)
    if len(first) > len(above):
        return first not in _levels(block, lambda line: line.there)
    below = _indent(block.below.there) if block.below else ""
    if len(first) >= min(len(above), len(below)) or all(line.lstrip().startswith(_ANY_DEPTH) for line in lines):
        return False
    return _indent(lines[-1]) != below and not lines[-1].rstrip().endswith(_OPENING)


def _levels(block: AddedLines, side: Callable[[MatchedLine], str]) -> set[str]:
    """The indentations that a line between these two may have."""
    levels = {_indent(side(block.below))} if block.below else set()
    if block.above:
        indent = _indent(side(block.above))
        opens = block.above.there.rstrip().endswith(_OPENING)
        levels |= {indent + step for step in _STEPS} if opens else {indent}
    return levels


def _pairs(seen: Iterable[MatchedLine]) -> set[tuple[str, str]]:
    """The indentations of the lines with text, as written and as in the file."""
    return {(_indent(line.written), _indent(line.there)) for line in seen if line.written.strip()}


def _as_elsewhere(added: Sequence[str], pairs: set[tuple[str, str]]) -> tuple[str, ...] | None:
    if all(_lost_marker(written, there) for written, there in pairs):
        return tuple(added)
    mapping = dict(pairs)
    return _whole([_put(line, _in_other_units(_indent(line), mapping)) if _indent(line) else line for line in added])


def _put(line: str, indent: str | None) -> str | None:
    return None if indent is None else indent + line.lstrip(" \t")


def _whole(lines: Sequence[str | None]) -> tuple[str, ...] | None:
    return None if None in lines else tuple(line for line in lines if line is not None)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _lost_marker(written: str, there: str) -> bool:
    """A context line whose first space was taken for the diff's own, or came beside it."""
    return written in (there, " " + there) or there == " " + written


def _reindented(line: str, mapping: Mapping[str, str]) -> str | None:
    if not line:
        return line
    indent = _indent(line)
    ways = {_shifted(indent, mapping), _in_other_units(indent, mapping)} - {None}
    return _put(line, ways.pop()) if len(ways) == 1 else None


def _shifted(indent: str, mapping: Mapping[str, str]) -> str | None:
    """All lines are moved by the same: to the right, or to the left."""
    more = {there.removesuffix(written) if there.endswith(written) else None for written, there in mapping.items()}
    if len(more) == 1 and (prefix := more.pop()) is not None:
        return prefix + indent
    less = {written.removesuffix(there) if written.endswith(there) else None for written, there in mapping.items()}
    if len(less) == 1 and (prefix := less.pop()) is not None and indent.startswith(prefix):
        return indent[len(prefix) :]
    return None


def _in_other_units(indent: str, mapping: Mapping[str, str]) -> str | None:
    """Whether each step of the indentation is written in another way, such as four spaces for a tab. Two spaces for
    four are not recognised: at a single depth, or two that are far apart, a shift looks the same."""
    for unit, other in _UNITS:
        if all(_converted(written, unit, other) == there for written, there in mapping.items()):
            return _converted(indent, unit, other)
    return None


def _converted(indent: str, unit: str, other: str) -> str:
    steps = 0
    while indent.startswith(unit, steps * len(unit)):
        steps += 1
    return other * steps + indent[steps * len(unit) :]
