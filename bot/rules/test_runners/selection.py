"""Changes the command of a test runner so that it runs only some tests, by their names or their files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.rules.test_runners.runner_arguments import BY_FILE, BY_NAME, SELECTS, Select, Words

MAX_SELECTED = 100
"""The limit of tests or files in one command."""

_MAX_CHARS = 20_000
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*$")
_PREFIXES = frozenset({"cross-env", "npx", "c8", "nyc", "env"})
_SHELL_SIGNS = re.compile(r"[&|;<>()$`\n\r#\\!]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
_GLOB = re.compile(r"[*?\[{~]")
_UNSAFE_PATH = re.compile(r"[^\w./@+ ,=:-]|^-")


@dataclass(frozen=True, slots=True)
class RunnerCall:
    """A command that calls a known runner: its words up to the runner's name, and the arguments after that."""

    runner: str
    head: Words
    arguments: Words


@dataclass(frozen=True, slots=True)
class Selected:
    """The words of a command that runs only some tests: its own with `added` inserted `at` a place among them.

    `at` is None where other words had to be replaced too."""

    words: Words
    added: Words
    at: int | None

    @property
    def appended(self) -> bool:
        """Whether the added words stand behind all others."""
        return self.at is not None and self.at + len(self.added) == len(self.words)


def select_tests(words: Words, tests: Sequence[str]) -> Selected | None:
    """The words of a command that runs only the tests of these names, or None where that is not certain."""
    return _selected(words, tests, BY_NAME)


def select_files(words: Words, paths: Sequence[str]) -> Selected | None:
    """The words of a command that runs the tests of these files, or None where that is not certain.

    `paths` are relative to where the command runs. For a compiled language other tests of their package run too."""
    if any(_UNSAFE_PATH.search(path) for path in paths):
        return None
    return _selected(words, paths, BY_FILE)


def simple_words(text: str) -> Words | None:
    """The words of a shell command that is one call of a program, else None. Patterns of file names are left as they
    are."""
    if _SHELL_SIGNS.search(_QUOTED.sub("", text)):
        return None
    try:
        return tuple(shlex.split(text)) or None
    except ValueError:
        return None


def with_words(text: str, selected: Selected) -> str | None:
    """The text of a shell command (`simple_words`) that runs only these tests; None where that needs the names of files
    that the shell would find by a pattern."""
    if selected.at is None:
        return None if _GLOB.search(text) else shlex.join(selected.words)
    end = len(text)
    if not selected.appended:
        before = re.match(rf"\s*(?:[^\s'\"]+\s+){{{selected.at}}}", f"{text} ")
        if before is None:
            return None
        end = before.end()
    return " ".join(filter(None, (text[:end].strip(), shlex.join(selected.added), text[end:].strip())))


def runner_call(words: Words) -> RunnerCall | None:
    """The runner that these words call; None for a program that is not known."""
    at = 0
    while at < len(words) and (words[at] in _PREFIXES or re.match(r"\w+=", words[at])):
        at += 1
    program = words[at].rpartition("/")[2] if at < len(words) else ""
    if _PYTHON.match(program):
        module = next((n for n in range(at + 1, len(words)) if words[n] == "-m"), len(words))
        if words[module + 1 : module + 2] == ("unittest",):
            return RunnerCall("unittest", words[: module + 2], words[module + 2 :])
        return None
    if program == "node":
        return _node_call(words, at)
    if program in ("go", "cargo"):
        known = words[at + 1 : at + 2] == ("test",)
        return RunnerCall(program, words[: at + 2], words[at + 2 :]) if known else None
    return RunnerCall(program, words[: at + 1], words[at + 1 :]) if program in BY_NAME else None


_SCRIPTS = {"jest.js": "jest", "jest": "jest", "vitest.mjs": "vitest", "mocha.js": "mocha", "mocha": "mocha"}


def _node_call(words: Words, at: int) -> RunnerCall | None:
    """`node --test`, or a runner that is started as a script of Node."""
    for place in range(at + 1, len(words)):
        if words[place] == "--test":
            return RunnerCall("node", words[: place + 1], words[place + 1 :])
        if not words[place].startswith("-"):
            name = _SCRIPTS.get(words[place].rpartition("/")[2]) if "node_modules" in words[place] else None
            return RunnerCall(name, words[: place + 1], words[place + 1 :]) if name else None
    return None


def _selected(words: Words, wanted: Sequence[str], table: Mapping[str, Select]) -> Selected | None:
    call = runner_call(words)
    if call is None or not 0 < len(wanted) <= MAX_SELECTED or any(not one.strip() for one in wanted):
        return None
    # of two selections the wider one might win
    if any(word.partition("=")[0] in SELECTS[call.runner] for word in call.arguments):
        return None
    added = table[call.runner](call.arguments, wanted)
    if added is None or sum(map(len, added.words)) > _MAX_CHARS:
        return None
    arguments = (*added.words, *added.kept) if added.first else (*added.kept, *added.words)
    at = len(call.head) + (0 if added.first else len(added.kept))
    return Selected((*call.head, *arguments), added.words, at if added.kept == call.arguments else None)
