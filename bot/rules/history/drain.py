"""A small Drain tree, which groups errors by the template that a tool made them of (He and others, *Drain: An Online
Log Parsing Approach with Fixed Depth Tree*, ICWS 2017). It is the third look-up, after the exact and the loose key.

The tree has a fixed depth. The path to a leaf is the number of words and the words that never vary: error codes, names
of exceptions, and words that make an error the opposite of another. A leaf has templates. An error belongs to the most
similar template, in which the words that differ become wildcards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from bot.rules.failures.normalize import loose_key, test_of
from bot.rules.failures.opposite_values import OPPOSED

MIN_SIMILARITY = 0.6
"""The minimal share of equal words."""
MIN_EQUAL = 3
"""The minimal number of equal words of letters: two messages that share fewer are often about different rules."""
_WILDCARD = "<*>"

_PLACE = re.compile(r"\S*<PATH>/\S*|\S*<POS>\S*|\S+\.[A-Za-z]{1,5}:")
_FIXED = re.compile(
    r"[(\[]*(?:[A-Z]{1,5}-?\d{2,6}|[A-Za-z_.]*(?:Error|Exception|Warning|Exit)|[a-z]+(?:-[a-z]+)+)[)\]]*:?,?"
)
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_PUNCTUATION = "(),.:;'\""


@dataclass(frozen=True, slots=True)
class Position:
    """The position of an error in the tree: the key of its leaf, and its words."""

    leaf: str
    words: tuple[str, ...]


def position(error: str) -> Position:
    """The position of an error, raw or normalised. Each failed test has leaves of its own, for its messages."""
    loose = loose_key(error)
    test = test_of(loose)
    words = tuple(_WILDCARD if _PLACE.fullmatch(word) else word for word in loose.removeprefix(test).split())
    fixed = (word for word in words if _FIXED.fullmatch(word) or word.lower().strip(_PUNCTUATION) in OPPOSED)
    path = "\n".join((test, str(len(words)), *fixed))
    return Position(sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:32], words)


class Leaf:
    """The templates of one leaf. All errors that are passed to it must be of this leaf."""

    def __init__(self) -> None:
        self._templates: list[tuple[str, ...]] = []

    def add(self, words: Sequence[str]) -> int:
        """Learn an error and return the number of its template."""
        number = self.find(words)
        if number is None:
            self._templates.append(tuple(words))
            return len(self._templates) - 1
        pairs = zip(self._templates[number], words, strict=True)
        self._templates[number] = tuple(one if one == other else _WILDCARD for one, other in pairs)
        return number

    def find(self, words: Sequence[str]) -> int | None:
        """The number of the most similar template; None if none is similar enough."""
        similar = [(_similarity(template, words), -number) for number, template in enumerate(self._templates)]
        share, number = max(similar, default=(0.0, 0))
        return -number if share >= MIN_SIMILARITY else None


def same_template(error: Sequence[str], known: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """The indexes of the known errors, in the order in which they were learned, that have the template of the error."""
    leaf = Leaf()
    numbers = [leaf.add(words) for words in known]
    found = leaf.find(error)
    return tuple(index for index, number in enumerate(numbers) if number == found)


def _similarity(template: Sequence[str], words: Sequence[str]) -> float:
    """The share of equal words; 0 where too few of them are words of letters. Wildcards of both do not count."""
    pairs = [pair for pair in zip(template, words, strict=True) if pair != (_WILDCARD, _WILDCARD)]
    equal = [one for one, other in pairs if one == other]
    telling = sum(_LETTERS.search(word) is not None for word in equal)
    return len(equal) / len(pairs) if telling >= MIN_EQUAL else 0.0
