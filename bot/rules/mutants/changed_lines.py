"""The lines of a file whose behaviour a change may have altered."""

from __future__ import annotations

from difflib import SequenceMatcher


def changed_lines(before: str | None, after: str) -> frozenset[int]:
    """The lines of `after`, from 1, that are new or differ; all of them where there was no file before.

    Where lines were deleted, the nearest lines with text above and below count, as their behaviour may differ.
    Empty lines, line ends and white space before these do not count."""
    numbers, new = _lines(after)
    if before is None:
        return frozenset(numbers)
    _, old = _lines(before)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    changed: set[int] = set()
    for tag, _, _, start, end in matcher.get_opcodes():
        first, last = head + start, head + end
        if tag == "delete":
            first, last = max(first - 1, 0), last + 1
        if tag != "equal":
            changed.update(numbers[first:last])
    return frozenset(changed)


def _lines(text: str) -> tuple[list[int], list[str]]:
    """The numbers of the lines with text, and these lines."""
    # a parser counts line feeds alone; `splitlines` knows more characters that end a line
    numbered = [(number, line.rstrip()) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    return [number for number, _ in numbered], [line for _, line in numbered]


def _common(one: list[str], other: list[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
