"""Places named in tool output, as annotations of files in the tree: what a check run shows beside the code.
Nothing outside the tree is named and no more than a check run can carry (T40)."""

# `from __future__ import annotations` would take the name of the function below
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.model import Annotation
from bot.rules.failures.findings import Finding, Here
from bot.rules.failures.log_lines import log_lines
from bot.rules.failures.problem_matchers import FLUSH, INDENTED, hinting_lines
from bot.rules.failures.stack_frames import placed_findings
from bot.rules.test_runners.failed_tests import FailedTest, failed_tests

MOST = 1_000
"""Annotations of one output: more than a check run shows (200, T40), so that the gravest are among them and the others
counted."""

NO_MESSAGE = "problem reported here"
"""Of a place beside which the tool wrote nothing."""

_FOREIGN = frozenset({".git", "node_modules", "site-packages", "dist-packages", ".venv", ".tox", ".nox", "__pycache__"})
_CONTROL = re.compile(r"[\x00-\x1f\ud800-\udfff]")
_WINDOWS = re.compile(r"^[A-Za-z]:/")
_ALONE = re.compile(r"(?:FILE: |== \[?)?(?P<path>[^\s:\[\]|]{1,400})(?:\]? (?:==|FAIL))?:?$")
"""A line that names a file for the rows below it."""

_BEFORE_A_NAME = ("FILE: ", "== ")
_LIKE_A_FILE = re.compile(r"[./]\w")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A report that gives no annotations; `because` completes the sentence "… could not be read: …"."""

    because: str


def annotations(output: str, stage: str, tree: str, limit: int = MOST) -> tuple[Annotation, ...]:
    """The findings in a tool's output, first come first, each once, at most `limit`.

    `tree` is the absolute path of the work tree; places outside it, and in what was installed into it, are dropped.
    Paths are relative with `/`, lines count from 1. `stage` titles what brings no title of its own."""
    lines = log_lines(output)
    seen: dict[tuple[str, int, str], Finding] = {}
    whole_files: dict[tuple[str, int, str], Finding] = {}
    for finding in placed_findings(within_tests(named_places(lines, tree), failed_tests(lines).tests), lines):
        place = whole_files if finding.whole else seen
        place.setdefault((finding.path, finding.line, finding.message), finding)
        if len(seen) >= limit or len(whole_files) >= limit:
            break
    located = {path for path, _, _ in seen}
    for key, finding in whole_files.items():  # a summary's line says less than the place it summarises
        if finding.path not in located:
            seen.setdefault(key, finding)
    return tuple(_annotation(finding, stage) for finding in seen.values())[:limit]


def within_tests(
    found: Iterable[tuple[int, Finding, str | None]], failed: Iterable[FailedTest]
) -> Iterator[tuple[int, Finding, str | None]]:
    """The findings, each with the failed test in whose part of the log it stands."""
    tests = {at: test.name for test in failed for part in test.lines for at in part}
    for index, finding, path in found:
        yield index, finding._replace(test=tests[index]) if index in tests else finding, path


def relative_path(path: str, tree: str) -> str | None:
    """The path relative to the tree, with `/` and without `.` and `..`; None for what lies outside or isn't ours."""
    path = path.removeprefix("file://").replace("\\", "/")
    root = tree.replace("\\", "/").rstrip("/")
    if path.startswith("/") or _WINDOWS.match(path):
        if not root or not path.startswith(root + "/"):
            return None
        path = path[len(root) + 1 :]
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts or not _FOREIGN.isdisjoint(parts) or _CONTROL.search(path) or path.startswith("<"):
        return None
    return "/".join(parts)


def named_places(lines: list[str], tree: str) -> Iterator[tuple[int, Finding, str | None]]:
    """Every line that names a place: its index, what it says, and the path relative to the tree where it's in it."""
    header = named = ""
    read = 0  # lines looked at for headers
    paths: dict[str, str | None] = {}
    for index in hinting_lines(lines):
        for above in lines[read : index + 1]:
            if above and above[0] not in " \t":
                header = above
                alone = _ALONE.match(above) if " " not in above or above.startswith(_BEFORE_A_NAME) else None
                named = alone["path"] if alone is not None and _LIKE_A_FILE.search(alone["path"]) else named
        read = index + 1
        line = lines[index]
        for guard, pattern, reader in INDENTED if line[0] in " \t" else FLUSH:
            match = pattern.match(line) if guard in line else None
            finding = reader(match, Here(lines, index, header, named)) if match is not None else None
            if finding is not None:
                if finding.path not in paths:
                    paths[finding.path] = relative_path(finding.path, tree)
                yield index, finding, paths[finding.path]
                break


def _annotation(finding: Finding, stage: str) -> Annotation:
    return Annotation(
        path=finding.path,
        start_line=finding.line,
        end_line=finding.end_line,
        level=finding.level,
        message=finding.message or NO_MESSAGE,
        title=(finding.test or finding.title or finding.rule or stage)[:255],
        rule=finding.rule,
    )
