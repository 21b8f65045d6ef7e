"""Gives added lines the file's indentation, where a hunk's other lines prove how the two go together.
A model that copies a block may move all of it to the left, or write spaces for tabs; what isn't proven is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_UNITS = ("\t", "  ", "    ", "        ")


@dataclass(frozen=True, slots=True)
class Seen:
    """A line of a hunk that was found: as the hunk has it and as the file has it."""

    written: str
    there: str
    removed: bool


def indented(added: Sequence[str], seen: Sequence[Seen], elsewhere: Sequence[Seen] = ()) -> tuple[str, ...] | None:
    """The added lines as the file would have them; None where the lines that were found don't prove how.

    They stay as they are where the removed lines agree with the file: then only the context was copied carelessly.
    Lines without any indentation say nothing; where a hunk has no others, the diff's other hunks (`elsewhere`) tell
    whether it writes tabs for spaces."""
    full, removed = _pairs(seen), _pairs(line for line in seen if line.removed)
    if not full:
        return _as_elsewhere(added, _pairs(elsewhere))
    if all(written == there for written, there in full) or not any(line.strip() for line in added):
        return tuple(added)
    if removed and all(written == there for written, there in removed):
        return tuple(added)
    if not removed and all(_lost_marker(written, there) for written, there in full):
        return tuple(added)
    mapping = dict({_indents(line) for line in seen if line.written.strip()})
    if any(mapping[written] != there for written, there in full):
        return None
    return _whole([_reindented(line, mapping) for line in added])


def _pairs(seen: Iterable[Seen]) -> set[tuple[str, str]]:
    return {pair for line in seen if line.written.strip() and any(pair := _indents(line))}


def _as_elsewhere(added: Sequence[str], pairs: set[tuple[str, str]]) -> tuple[str, ...] | None:
    if all(_lost_marker(written, there) for written, there in pairs):
        return tuple(added)
    mapping = dict(pairs)
    return _whole([_put(line, _other_unit(_indent(line), mapping)) if _indent(line) else line for line in added])


def _put(line: str, indent: str | None) -> str | None:
    return None if indent is None else indent + line.lstrip(" \t")


def _whole(lines: Sequence[str | None]) -> tuple[str, ...] | None:
    return None if None in lines else tuple(line for line in lines if line is not None)


def _indents(line: Seen) -> tuple[str, str]:
    return _indent(line.written), _indent(line.there)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _lost_marker(written: str, there: str) -> bool:
    """A context line whose first space was taken for the diff's own, or came beside it."""
    return written in (there, " " + there) or there == " " + written


def _reindented(line: str, mapping: Mapping[str, str]) -> str | None:
    if not line.strip():
        return line
    indent = _indent(line)
    for read in (_known, _shifted, _other_unit):
        if (new := read(indent, mapping)) is not None:
            return _put(line, new)
    return None


def _known(indent: str, mapping: Mapping[str, str]) -> str | None:
    return mapping.get(indent)


def _shifted(indent: str, mapping: Mapping[str, str]) -> str | None:
    """All lines are moved by the same: to the right, or to the left."""
    more = {there.removesuffix(written) if there.endswith(written) else None for written, there in mapping.items()}
    if len(more) == 1 and (prefix := more.pop()) is not None:
        return prefix + indent
    less = {written.removesuffix(there) if written.endswith(there) else None for written, there in mapping.items()}
    if len(less) == 1 and (prefix := less.pop()) is not None and indent.startswith(prefix):
        return indent[len(prefix) :]
    return None


def _other_unit(indent: str, mapping: Mapping[str, str]) -> str | None:
    """Each step of the indentation is written in another way: four spaces for a tab, say."""
    pairs = [(written, there) for written, there in mapping.items() if written or there]
    for unit in _UNITS:
        for other in _UNITS:
            if unit != other and all(_in_units(written, unit, other) == there for written, there in pairs):
                return _in_units(indent, unit, other)
    return None


def _in_units(indent: str, unit: str, other: str) -> str:
    steps = 0
    while indent.startswith(unit, steps * len(unit)):
        steps += 1
    return other * steps + indent[steps * len(unit) :]
