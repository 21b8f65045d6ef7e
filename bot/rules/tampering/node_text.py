"""Texts of syntax nodes, in a form that does not change with their layout."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MAX_CHARS = 2_000
"""The limit of what is compared of one node, as nodes hold each other."""
_LAYOUT = re.compile(r"'[^'\"\\\n]*'|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|,\s*(?=[)\]}])|\s+")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`$]*`")
_MEMBER = re.compile(r"(?:\.|->|::)\s*\w+")
_CONSTANT_WORDS = """
assert self True False None true false null undefined nil not and or is in eq eql equal be be_truthy be_nil to not_to
truthy NaN f r b u
"""
_CONSTANTS = frozenset(_CONSTANT_WORDS.split())
_ALWAYS_FAILS = re.compile(r"(?i)(?:fail|error|fatal|raise|throw|flunk|unreachable|panic|exception|assertions)\w*!?$")
_SUBJECT_FIRST = re.compile(r"\(|\.(?:should|must_|wont_)")
_ALWAYS_TRUE = re.compile(r"(?:\bor\s*True|\|\|\s*true)\W*$")
_ITSELF = re.compile(r"(?:^assert|\()([\w.$\[\]\"]{1,80})(?:===?|,|\)\.to\w{1,20}\()\1\)?$")
_PASSES = (
    r"(?:pass|continue|break|\.\.\.|return\b[^\n]*|;"
    r"|(?:print|println!|console\.\w+|log\w*\.\w+|System\.\w+\.print\w*|puts|p|fmt\.Print\w*|echo)\b.*);?"
)
_TRIVIAL = re.compile(_PASSES, re.DOTALL)
_CONSTANT_RETURN = re.compile(r"return\s*(?:None|null|undefined|void 0|true|True|nil|\d+|Ok\(\(\)\))?\s*;?")


def normal(text: str) -> str:
    """The text without layout: white space, trailing commas, and the choice of quotes."""
    return _LAYOUT.sub(lambda match: _even(match[0]), text[:_MAX_CHARS])


def _even(piece: str) -> str:
    if piece[0] in "\"'`":
        return f'"{piece[1:-1]}"' if piece[0] == "'" and '"' not in piece else piece
    return ""


def evened(text: str) -> tuple[str, ...]:
    """The lines of a text that are not blank, each with its white space evened out."""
    return tuple(" ".join(line.split()) for line in text.split("\n") if line.strip())


def can_fail(callee: str, text: str, constants: Iterable[str] = ()) -> bool:
    """Whether an assertion may fail at all: it compares more than constants, and nothing with itself."""
    if _ALWAYS_FAILS.search(callee):
        return True
    subject = text[:_MAX_CHARS]
    if not _SUBJECT_FIRST.search(callee):
        subject = subject.removeprefix(callee)
    if not subject.strip("() \n"):
        return subject != text
    plain = _MEMBER.sub("", _STRING.sub("", subject))
    words = set(re.findall(r"[A-Za-z_$]\w*", plain)) - _CONSTANTS - set(constants)
    return bool(words) and not _ALWAYS_TRUE.search(plain) and not _ITSELF.search(normal(text))


def is_trivial(statements: Iterable[str]) -> bool:
    """Whether statements let a failure pass: there are none, or they only print or return."""
    return all(_TRIVIAL.fullmatch(statement.strip()) for statement in statements)


def returns_early(text: str) -> bool:
    """Whether a return statement gives nothing, or a constant."""
    return _CONSTANT_RETURN.fullmatch(text.strip()) is not None
