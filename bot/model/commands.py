"""The nouns of slash commands: a verb, a command as somebody wrote it, and what can be wrong with one.
`rules.commands` reads them and `reports.replies` answers; neither imports the other, so what both name is here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Where = Literal["issue", "pull"]


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing that can be asked for, and on which threads. Who may write to the repository may ask for all of them.

    `author_may`: so may the author of a pull request from the same repository. `reads`: it changes nothing."""

    name: str
    usage: str
    where: frozenset[Where]
    author_may: bool = False
    reads: bool = False


def _nothing() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Command:
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
    """An English sentence: what is wrong and how to mend it."""
    column: int | None = None
    suggestion: str | None = None
    """What was probably meant by the word at `column`."""
    problem: str = ""
    """The key of PROBLEMS whose sentence `error` is, and in `values` what is put into it."""
    values: Mapping[str, str] = field(default_factory=_nothing, hash=False)


PROBLEMS: Mapping[str, str] = MappingProxyType(
    {
        "too_many": "At most {most} commands of one comment are obeyed; write the others in a comment of their own.",
        "unknown_verb": "There is no command {got}.",
        "unclosed": "The quote {got} is not closed. Close it, or put a backslash in front of it.",
        "escape": "Nothing follows the backslash. Leave it out, or write it twice.",
        "unexpected": "{got} is more than {verb} takes; it is written {usage}.",
        "unknown_check": "There is no check {got}. Known are {known}.",
        "unknown_option": "{verb} has no option {got}.",
        "bad_value": "{got} is no value for {option}: it is a number from {least} to {most}.",
        "missing_word": "{verb} needs one of these behind it: {known}.",
        "unknown_word": "{verb} has no {got}. Known are {known}.",
        "missing_issues": "{verb} needs the numbers of issues, for example {example}.",
        "bad_issue": "{got} is no number of an issue; it is written {example}.",
        "missing_file": "{verb} needs the path of a file, for example {example}.",
        "second_file": "{verb} takes one file, and {got} is a second; a path with spaces is written in quotes.",
        "bad_commit": "{got} is no commit: give 7 to 40 hexadecimal digits, or nothing for the latest commit.",
        "missing_diff": "{verb} needs a diff below it, in a code block that begins with {example}.",
        "only_issue": "{verb} works on issues only.",
        "only_pull": "{verb} works on pull requests only.",
    }
)
"""The sentences in English, by key; the values are put in by whoever tells it."""
