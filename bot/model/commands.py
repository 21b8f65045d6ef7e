"""Slash commands: the verbs, and a command as it stands in a comment, with its mistake if it has one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Where = Literal["issue", "pull"]


@dataclass(frozen=True, slots=True)
class Verb:
    """One command and the threads on which it works. Everyone with write access may use every command.

    `author_may`: the author of a pull request from the same repository may use it too. `reads`: it changes nothing."""

    name: str
    usage: str
    where: frozenset[Where]
    author_may: bool = False
    reads: bool = False


def _nothing() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """One line of a comment that begins with a command; it runs only without a `problem`. All texts are untrusted.

    `verb` is canonical, or the word as typed where there is no such verb; `args` are the words after it without
    `options`. `text` is the line as typed, without invisible characters; `line` counts from 1, `column` from 0, into
    `text`. `issues` are the numbers that `group` names, `block` is the diff below `apply`."""

    verb: str
    args: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=_nothing, hash=False)
    text: str = ""
    line: int = 1
    issues: tuple[int, ...] = ()
    block: str | None = None
    error: str | None = None
    """The message of the problem in English; only `bot.rules.commands.parse_commands` sets it, for other programs."""
    column: int | None = None
    suggestion: str | None = None
    """The word that was probably meant by the word at `column`."""
    problem: str = ""
    """The kind of the mistake, whose message is `reply.problem.KIND` with the fields `values`; empty without one."""
    values: Mapping[str, str] = field(default_factory=_nothing, hash=False)
