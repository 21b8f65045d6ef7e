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
    """One line of a comment that speaks to Mendbot; it runs only where `error` is None. All texts are untrusted.

    `verb` is canonical, or the word as typed where there is no such verb; `args` are the words behind it without
    `options`. `text` is the line as typed, but for what cannot be seen; `line` counts from 1, `column` from 0, into
    `text`. `issues` are the numbers that `group` names, `block` is the diff that `apply` stands above."""

    verb: str
    args: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=_nothing, hash=False)
    text: str = ""
    line: int = 1
    issues: tuple[int, ...] = ()
    block: str | None = None
    error: str | None = None
    """An English sentence: what is wrong and what to write instead."""
    column: int | None = None
    suggestion: str | None = None
    """What was probably meant by the word at `column`."""
    problem: str = ""
    """The key of PROBLEMS whose sentence `error` is, and in `values` what is put into it."""
    values: Mapping[str, str] = field(default_factory=_nothing, hash=False)


PROBLEMS: Mapping[str, str] = MappingProxyType(
    {
        "too_many": "A comment can run at most {most} commands. Put the rest in a new comment.",
        "unknown_verb": "Unknown command {got}.",
        "unclosed": "Unclosed quote {got}. Close it, or put a backslash in front of it.",
        "escape": "Nothing follows the backslash. Omit it, or write it twice.",
        "unexpected": "Unexpected argument {got} for {verb}. Usage: {usage}.",
        "unknown_check": "Unknown check {got}. Known checks: {known}.",
        "unknown_option": "Unknown option {got} for {verb}.",
        "bad_value": "{got} is not a value for {option}. Use a number from {least} to {most}.",
        "missing_word": "{verb} needs a subcommand: {known}.",
        "unknown_word": "Unknown subcommand {got} for {verb}. Known subcommands: {known}.",
        "missing_issues": "{verb} needs issue numbers, for example {example}.",
        "bad_issue": "{got} is not an issue number. Example: {example}.",
        "missing_file": "{verb} needs the path of a file, for example {example}.",
        "second_file": "{verb} takes one file; {got} is a second one. Quote a path that has spaces.",
        "bad_commit": "{got} is not a commit SHA. Use 7 to 40 hex digits, or omit it for the head commit.",
        "missing_diff": "{verb} needs a diff below it, in a code block that begins with {example}.",
        "only_issue": "{verb} works on issues only.",
        "only_pull": "{verb} works on pull requests only.",
    }
)
"""The sentences in English, by key; the values are put in by whoever tells it."""
