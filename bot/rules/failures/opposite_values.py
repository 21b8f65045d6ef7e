"""What must stay of the values that the loose key masks, so that it never takes an error for its opposite: which of two
compared values is the greater, and the words and signs in quotes that turn a sentence round."""

from __future__ import annotations

import re

_VALUE = re.compile(
    r"""(?P<text>(?<!\w)'[^']*'(?!\w)|"[^"]*(?:"|$)|`[^`]*(?:`|$))"""
    r"|(?P<number>(?<![A-Za-z_\d])(?!0[xX])\d+(?:[.,]\d+)*)"
)
_COMPARES = re.compile(
    r"\b(?:expect\w*|assert\w*|received|actual\w*|got|given|but|want(?:ed)?|instead|than|versus|vs|equals?"
    r"|to (?:be|equal|match|have|contain)|at (?:least|most)|assignable|incompatible|convert\w*|match\w*|mismatch\w*"
    r"|differs?|before|after|between|left|right|requires?|needs?)\b|[!=<>]=|\s[<>]\s",
    re.IGNORECASE,
)
"""A line that compares values: exchanging them gives the opposite error."""

_OPPOSED_WORDS = """
true false none null nil undefined defined nan not no never without yes on off in out is and or
missing unexpected present absent short long added removed before after empty full first last start end begin
few many
less more greater smaller larger fewer least most min max minimum maximum under over above below up down left right
enabled disabled enable disable allow deny allowed denied forbidden accept reject accepted rejected open opened
closed close valid invalid equal unequal different same success failure passed failed pass fail error ok
visible hidden locked unlocked public private sync async signed unsigned positive negative even odd asc desc
ascending descending increasing decreasing increase decrease online offline connected disconnected
read write get set input output request response encode decode import export push pop insert delete add remove
string str number int integer float bool boolean bytes list tuple dict object array void any unknown symbol bigint
"""
OPPOSED = frozenset(_OPPOSED_WORDS.split())
_TURNS = re.compile(
    r"(?P<word>(?<![\w./@-])[A-Za-z]+(?![\w/@-]))|\w+n't\b|[!=]==?(?!>)|(?<![-=])[<>]=|(?<=\s)[<>](?=\s)"
)
_ARROWS = re.compile(r"[-=]>|<-|<=>")


def masked_values(text: str) -> str:
    """The text with `<STR>` for what is in quotes and `<N>` for every number, and in each what distinguishes opposites.

    In a line that compares, a value after another of its kind is `<N+>` where it is the greater, `<N->` where it is
    the smaller. Quotes around a sign alone stay, as do a word of an opposed pair and what negates or compares."""
    compares = _COMPARES.search(text) is not None
    last: dict[str, str] = {}

    def mask(found: re.Match[str]) -> str:
        kind = "N" if found["number"] else "STR"
        value = found[0]
        order = _order(kind, last.get(kind), value) if compares else ""
        last[kind] = value
        if kind == "N":
            return f"<N{order}>"
        inner = value[1:].removesuffix(value[0])
        if not any(sign.isalnum() for sign in inner):
            return value
        return f"<{' '.join((f'STR{order}', *_turns(inner)))}>"

    return _VALUE.sub(mask, text)


def _order(kind: str, before: str | None, value: str) -> str:
    if before is None or before == value:
        return ""
    greater = _number(value) > _number(before) if kind == "N" else value > before
    return "+" if greater else "-"


def _number(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.replace(",", "").split("."))


def _turns(inner: str) -> tuple[str, ...]:
    """What of a quoted text makes it the opposite of another: words of opposed pairs, negations and comparisons, in
    their order. A lone `<` or `>` counts too; in pairs they are a type's parameters."""
    plain = _ARROWS.sub(" ", inner)
    found = [one for one in _TURNS.finditer(plain) if not one["word"] or one["word"].lower() in OPPOSED]
    turns = tuple(one[0].lower() for one in found)
    lone = (sign for sign in "<>" if plain.count("<") != plain.count(">") and sign in plain and sign not in turns)
    return (*turns, *lone)
