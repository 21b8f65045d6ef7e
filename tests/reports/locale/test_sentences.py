"""Every sentence that a person reads comes from the catalog: none stands in the code (architecture rule 10).

A text of four words or more counts as a sentence. What is recognised as something else by the place where it stands
(a docstring, a pattern, an assertion) is left out; other exceptions are listed by file, with the reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import bot

ROOT = Path(bot.__file__).parent

_PROMPT = "a prompt for coding agents, in English by design"
_SHELL = "a shell command"
_HELP = "the text of `--help`"
_SUMMARY = "the summary of a validation, which programs read over HTTP"
_WORDS = "a list of words"
_YAML = "a message of PyYAML, which is looked for"

ALLOWED: dict[str, dict[str, str]] = {
    "bot/agent/protocol.py": {
        "You are fixing": _PROMPT,
        "You are about to fix": _PROMPT,
        "Files it is about": _PROMPT,
        "The project's own instructions": _PROMPT,
        "Commands that judge": _PROMPT,
        "Tests that were written": _PROMPT,
        "What failed": _PROMPT,
        "Patches that were tried": _PROMPT,
        "What is known": _PROMPT,
        "All checks pass now": _PROMPT,
        "One of several changes": _PROMPT,
        "This is change": _PROMPT,
        "Solve the task in": _PROMPT,
        "Do the smallest change": _PROMPT,
        "Answer in one of": _PROMPT,
        "ran into its time limit": _PROMPT,
        "needed more than": _PROMPT,
        "could not be started": _PROMPT,
    },
    "bot/workflows/agents/check_agent.py": {"Create a file": _PROMPT},
    "bot/agent/hook.py": {"": "it imports the standard library alone; a test compares its texts with the catalog's"},
    "bot/app/metrics.py": {"": "help texts of metrics, in English by custom"},
    "bot/agent/hook_install.py": {"import sys;": "a program for `python -c`"},
    "bot/cli/__init__.py": {"Exit codes:": _HELP},
    "bot/cli/examples.py": {"": _HELP},
    "bot/cli/history.py": {"Usage:": _HELP},
    "bot/mcp/arguments.py": {"": _PROMPT},
    "bot/mcp/server.py": {"Mendbot's tools. Before": _PROMPT},
    "bot/mcp/tools.py": {
        "Create, clean up": _PROMPT,
        "Run a project's own": _PROMPT,
        "Group GitHub issues": _PROMPT,
        "Look up how": _PROMPT,
        "Remember what made": _PROMPT,
    },
    "bot/github/pulls.py": {"draft pull requests are not supported": "what GitHub answers"},
    "bot/repo_config/describe.py": {
        "mapping values are not allowed": _YAML,
        "could not find expected": _YAML,
        "unexpected end of stream": _YAML,
        "expected alphabetic or numeric": _YAML,
        "cannot start any token": _YAML,
    },
    "bot/repo_config/json_schema.py": {"How Mendbot works": "the description in the JSON Schema, for editors"},
    "bot/rules/failures/errors.py": {"\na an and": _WORDS},
    "bot/rules/failures/opposite_values.py": {"\ntrue false": _WORDS},
    "bot/rules/grouping/references.py": {"astro bash": _WORDS},
    "bot/rules/grouping/stop_words.py": {"a about": _WORDS},
    "bot/rules/setup/node_commands.py": {"": _SHELL},
    "bot/rules/setup/setup_remedy.py": {"": _SHELL},
    "bot/rules/tampering/check_config.py": {"\npytest mypy": _WORDS, "jest vitest": _WORDS},
    "bot/rules/tampering/languages.py": {"": "names of syntax nodes"},
    "bot/rules/tampering/node_text.py": {"\nassert self": _WORDS},
    "bot/rules/tampering/support_files.py": {"\npytest _pytest": _WORDS},
    "bot/rules/tampering/read_text.py": {"py pyi": "suffixes of files"},
    "bot/rules/test_runners/javascript.py": {"Test suite failed to run": "what Jest prints"},
    "bot/workspace/sandbox/package_registry.py": {"No module named pip": "what Python prints"},
    "bot/rules/failures/findings.py": {"the tests in this file failed": "a finding's message, which is compared"},
    "bot/rules/runs/existing_failures.py": {"Leave these failures alone": _PROMPT},
    "bot/rules/runs/pipeline.py": {"refused: other": _SUMMARY, "needed too much": _SUMMARY},
    "bot/rules/setup/python_commands.py": {"": _SHELL},
    "bot/web/pages/presets.py": {"def add(": "a file of the sample", "--- a/calc.py": "a diff of the sample"},
    "bot/web/pages/site.py": {"default-src 'none'": "a header"},
    "bot/workspace/files/home_directories.py": {"Mendbot made this": "a marker file, compared byte for byte"},
    "bot/workspace/git/tree.py": {"Kept by Mendbot as": "the message of a commit in Mendbot's own mirror"},
    "bot/workspace/sandbox/agent_program.py": {"\nnumber=0": _SHELL},
}
"""Files with texts that may stay, by the beginning of the text, and the reason."""

MIN_WORDS = 4
_WORD = re.compile(r"""[("'`]*[A-Za-z]+(?:['’-][A-Za-z]+)*['"`)]*[,.;:!?]*['"`)]*""")
_PATTERN = re.compile(r"\\[wdsSbBAZz.()\[\]]|\(\?[:=!<Pi]|\.\*|\[\^|\]\+")
"""What regular expressions have and sentences have not."""
_SQL = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|WHERE)\b|.*\b(?:IN \(|IS NULL\b)", re.S)

_OUR_BUGS = ("AssertionError", "KeyError", "NotImplementedError", "RuntimeError", "TypeError", "ValueError")
"""Errors that only a bug of ours raises: they end in the log, with a traceback."""
_LOG = ("debug", "info", "warning", "error", "exception", "critical")
_NO_TEXT_FOR_PEOPLE = {("re", "compile"), ("re", "match"), ("re", "fullmatch"), ("re", "search"), ("sa", "text")}


def is_sentence(text: str) -> bool:
    """Whether a text reads as a sentence: it has words enough, and is neither a regular expression nor SQL."""
    words = sum(_WORD.fullmatch(part) is not None for part in text.split())
    return words >= MIN_WORDS and _PATTERN.search(text) is None and _SQL.match(text) is None


def text_of(node: ast.AST) -> str | None:
    """The text of a string or an f-string, `{}` for each of its values; None for another expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def _is_for_us(call: ast.Call) -> bool:
    """Whether what is passed to this call is no text for people: a pattern, SQL, a log's fields, an error of ours."""
    match call.func:
        case ast.Name(name):
            return name in _OUR_BUGS
        case ast.Attribute(ast.Name(owner), name):
            return (owner, name) in _NO_TEXT_FOR_PEOPLE or (owner in ("log", "_log") and name in _LOG)
    return False


def texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts below a node that people may read, with their lines; a value of an f-string is looked into, too."""
    match node:
        case ast.Expr(ast.Constant(str())) | ast.Assert():
            return
        case ast.Call() if _is_for_us(node):
            return
        case ast.keyword(arg="help"):
            return
        case ast.Call(ast.Attribute(ast.Constant(), "split")):  # a list of words
            return
    if (text := text_of(node)) is not None:
        yield getattr(node, "lineno", 0), text
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.JoinedStr | ast.Compare) and isinstance(child, ast.Constant)):
            yield from texts(child)


def sentences_in(source: str) -> list[tuple[int, str]]:
    return [(line, text) for line, text in texts(ast.parse(source)) if is_sentence(text)]


@cache
def sentences() -> tuple[tuple[str, int, str], ...]:
    """File, line and text of every sentence in the code."""
    files = [(path, path.relative_to(ROOT.parent).as_posix()) for path in sorted(ROOT.rglob("*.py"))]
    return tuple((name, *found) for path, name in files for found in sentences_in(path.read_text(encoding="utf-8")))


def is_allowed(name: str, text: str) -> bool:
    return any(text.startswith(start) for start in ALLOWED.get(name, {}))


def test_no_sentence_stands_outside_the_catalog() -> None:
    outside = [found for found in sentences() if not is_allowed(found[0], found[2])]
    assert outside == []


def test_no_exception_is_left_over() -> None:
    used = {(name, start) for name, _, text in sentences() for start in ALLOWED.get(name, {}) if text.startswith(start)}
    assert {(name, start) for name, starts in ALLOWED.items() for start in starts} == used


@pytest.mark.parametrize(
    "source",
    [
        'raise UserError("the disk is full here")',
        'name = "x"; note = f"the check {name} did not run"',
        'print("the first half "\n"and the second half")',
        "f\"{shown or 'nothing at all was found'}\"",
        'table = {"key": ("it was closed by somebody",)}',
    ],
)
def test_a_sentence_is_found_wherever_it_stands(source: str) -> None:
    assert len(sentences_in(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        '"""This module has one sentence."""',
        'x = 1\n"""What this constant is good for."""',
        'assert x, "this can not be so"',
        'raise ValueError("a number was expected here")',
        'log.warning("event", note="what the log may say")',
        're.compile("some words that are matched")',
        'pattern = r"expected (?:one|two) of these words"',
        'sa.text("SELECT a FROM b WHERE c")',
        'App(help="What this command is for")',
        'run("git", "apply --index fix.patch")',
        'full = "no space left on device" in text',
        'words = "one two three four five".split()',
        'words = "not a sentence"',
    ],
)
def test_what_is_no_sentence_for_people_is_left_out(source: str) -> None:
    assert sentences_in(source) == []
