"""Real error messages for the benchmark of fingerprints, each with what it is an instance of. Published checkers print
them about published packages of two versions; tests of ours fail twice, with other values in other directories."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from venv import EnvBuilder

from benchmarks.failing_tests import failing_test_errors
from benchmarks.releases import RELEASES, texts_of
from benchmarks.servers import ROOT
from bot.rules.failures.annotations import find_annotations
from bot.rules.failures.log import read_log

CHECKERS = ("mypy==1.18.2", "pycodestyle==2.14.0", "pyflakes==3.4.0", "pylint==3.3.7")
DRAIN3 = "drain3==0.9.11"
_CACHE = ROOT / ".cache" / "bench" / "messages"
_LOGS = ROOT / "fixtures" / "logs"
_TREE = "/home/runner/code/app"
_PYFLAKES = """
import sys
from pyflakes.api import checkRecursive
class R:
    def unexpectedError(self, *a): pass
    def syntaxError(self, *a): pass
    def flake(self, m): print(type(m).__name__, m, sep="\\t")
checkRecursive(sys.argv[1:], R())
"""
_PLACE = re.compile(r"^[^:\s]+\.py:\d+(?::\d+)?: (?:error|note): ")
_CODE = re.compile(r"  \[[a-z-]+\]$")
_FIELD = re.compile(r"\{[^{}]*\}|%[a-z]")


@dataclass(frozen=True, slots=True)
class Message:
    """A message as the tool printed it. `truth` is its rule, its template in the tool's source, or the test's name."""

    tool: str
    truth: str
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Messages that were seen first, and those that came later, of one tool."""

    tool: str
    earlier: tuple[Message, ...]
    later: tuple[Message, ...]


def checker_messages() -> Iterator[Corpus]:
    """What each checker prints about some packages, and later about others, without the codes of its rules."""
    readers = {"mypy": _mypy, "pycodestyle": _pycodestyle, "pyflakes": _pyflakes, "pylint": _pylint}
    with tempfile.TemporaryDirectory() as folder:
        trees = [Path(folder, "home", "ada", "src"), Path(folder, "builds", "17", "work")]
        for number, (package, _, version) in enumerate(RELEASES):
            for name, text in texts_of(package, version).items():
                file = trees[number // 2 % 2] / name
                if name.endswith(".py") and ".data/" not in name:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8")
        for tool, read in readers.items():
            earlier, later = (tuple(Message(tool, *row) for row in read(tree)) for tree in trees)
            yield Corpus(tool, earlier, later)


def python_of(name: str, requirements: Sequence[str]) -> Path:
    """The interpreter of a virtual environment of its own with these packages, which are installed once."""
    folder = _CACHE / name
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        EnvBuilder(with_pip=True, clear=True).create(folder)
        argv = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"pip could not install {', '.join(requirements)}: {done.stderr[-2000:]}")
        (folder / "ready").touch()
    return python


def _output(tree: Path, *arguments: str) -> str:
    argv = [str(python_of("checkers", CHECKERS)), *arguments]
    return subprocess.run(argv, cwd=tree, capture_output=True, text=True, check=False).stdout


def _pyflakes(tree: Path) -> Iterator[tuple[str, str]]:
    for line in _output(tree, "-c", _PYFLAKES, ".").splitlines():
        truth, _, text = line.partition("\t")
        yield truth, text


def _pycodestyle(tree: Path) -> Iterator[tuple[str, str]]:
    for line in _output(tree, "-m", "pycodestyle", "--max-line-length=100", ".").splitlines():
        found = re.match(r"\S+:\d+:\d+: ([EW]\d+) ", line)
        if found:
            yield found[1], line.replace(f" {found[1]} ", " ", 1)


def _pylint(tree: Path) -> Iterator[tuple[str, str]]:
    arguments = ("-m", "pylint", "--disable=import-error,duplicate-code", "-f", "json", "--recursive=y", "-j", "2", ".")
    for one in json.loads(_output(tree, *arguments)):
        words = one["message"].splitlines()[0]
        place = f"{one['path']}:{one['line']}:{one['column']}"
        yield one["message-id"], f"{place}: {words}"


def _mypy(tree: Path) -> Iterator[tuple[str, str]]:
    arguments = ("-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir", "/dev/null", "--show-error-codes")
    packages = sorted(path.name for path in tree.iterdir())
    for package in packages:
        for line in _output(tree, *arguments, "--follow-imports=silent", package).splitlines():
            if _PLACE.match(line) and ": error: " in line:
                truth = _template(_CODE.sub("", _PLACE.sub("", line)))
                if truth:
                    yield truth, _CODE.sub("", line)


def _template(words: str) -> str:
    """The template in mypy's source that fits best: the one with the most characters outside of its fields."""
    return next((text for text, pattern in _templates() if pattern.fullmatch(words)), "")


@cache
def _templates() -> tuple[tuple[str, re.Pattern[str]], ...]:
    code = "import mypy, os; print(os.path.dirname(mypy.__file__))"
    folder = Path(_output(ROOT, "-c", code).strip())
    texts: set[str] = set()
    for file in folder.glob("*.py"):
        texts.update(_literals(ast.parse(file.read_text(encoding="utf-8"))))
    literal = {text: len(_FIELD.sub("", text)) for text in texts}
    kept = sorted(
        (text for text in texts if literal[text] >= 8 and " " in text), key=lambda text: (-literal[text], text)
    )
    return tuple((text, re.compile(".+".join(map(re.escape, _FIELD.split(text))))) for text in kept)


def _literals(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)


def golden_messages() -> Iterator[Corpus]:
    """The findings of the recorded logs that have a rule, tool by tool: every second one is a later one."""
    for folder in sorted(path for path in _LOGS.iterdir() if path.is_dir()):
        messages = tuple(message for log in sorted(folder.glob("*.log")) for message in _findings(log))
        if len({message.truth for message in messages}) > 1:
            yield Corpus(folder.name, messages[::2], messages[1::2])


def _findings(log: Path) -> Iterator[Message]:
    rows = [row.split("\t") for row in log.with_suffix(".tsv").read_text("utf-8").split("\n") if row]
    rules: dict[tuple[str, int], set[str]] = {}
    for path, line, _, _, rule in rows:
        rules.setdefault((path, int(line)), set()).add(rule)
    for note in find_annotations(read_log(log.read_bytes().decode("utf-8"), _TREE), "test", 10**6):
        found = rules.get((note.path, note.start_line), set())
        if len(found) == 1 and (rule := next(iter(found))):
            yield Message(log.parent.name, rule, note.message.splitlines()[0])


def failing_test_messages() -> Iterator[Corpus]:
    """The errors of tests that fail in two runs."""
    with tempfile.TemporaryDirectory() as folder:
        for runner, *runs in failing_test_errors(Path(folder)):
            earlier, later = (tuple(Message(runner, test, error) for test, error in run) for run in runs)
            yield Corpus(runner, earlier, later)
