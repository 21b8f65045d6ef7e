"""The cases of `benchmarks.proof`: a program with a fault, an issue about it, and changes that do or do not correct it.

The small programs are in `proof_cases/*.toml`; `benchmarks.proof_releases` makes further cases from releases."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).with_name("proof_cases")
RIGHT = ("right", "right without a test")
MISLEADING = (
    "example and its test",
    "example only, red base",
    "test of the wrong behaviour",
    "test of a new name",
    "another fault and its test",
)
"""Kinds of wrong changes for which a test fails on the base and passes with the change. Running tests cannot
recognize them: the tests themselves ask for the wrong thing, or for too little."""
COMMANDS = {"python": "python3 -m pytest -q -p no:cacheprovider", "javascript": "node --test"}
_TESTS = re.compile(r"(^|/)(tests?/|conftest\.py$|test_[^/]+$|[^/]+\.test\.[cm]?js$)")
_CHECK_SETTINGS = re.compile(r"(^|/)(setup\.cfg|pytest\.ini|tox\.ini|pyproject\.toml|package\.json)$")

Files = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """What an agent proposes: the files as they become, None for one that is deleted."""

    kind: str
    files: Mapping[str, str | None]

    @property
    def right(self) -> bool:
        return self.kind in RIGHT

    @property
    def misleading(self) -> bool:
        return self.kind in MISLEADING

    @property
    def tests(self) -> Mapping[str, str | None]:
        """The part of the change that decides which tests run and what they expect."""
        return {path: text for path, text in self.files.items() if is_test_side(path)}


@dataclass(frozen=True, slots=True)
class Case:
    """One fault. `base` is the result of the suite without any change; `hidden` are tests that Mendbot never sees."""

    name: str
    source: Literal["program", "release"]
    language: str
    topic: str
    base: Literal["green", "red"]
    issue: str
    command: str
    files: Files
    hidden: Files
    changes: tuple[Change, ...]
    half: Literal["a", "b"] = field(default="a")
    """The half by the parity of the case's number: nothing may be tuned on half b."""


def is_test_side(path: str) -> bool:
    """Whether the file holds tests, or settings of the test runner."""
    return bool(_TESTS.search(path)) or is_check_setting(path)


def is_check_setting(path: str) -> bool:
    """Whether the file may hold settings of the test runner."""
    return bool(_CHECK_SETTINGS.search(path))


def applied(files: Files, change: Mapping[str, str | None]) -> dict[str, str]:
    """The files with the change."""
    return {path: text for path, text in {**files, **change}.items() if text is not None}


def program_cases(folder: Path = FOLDER) -> list[Case]:
    """The small programs, by name. Raises ValueError for an edit whose old text is not there exactly once."""
    return [read_case(path) for path in sorted(folder.glob("*.toml"))]


def read_case(path: Path) -> Case:
    """One program with its own changes and those that `benchmarks.proof_derived` makes from them."""
    from benchmarks.proof_derived import derived

    data = tomllib.loads(path.read_text(encoding="utf-8"))
    files: Files = data["files"]
    changes = tuple(Change(each["kind"], _changed(path.stem, files, each)) for each in data["change"])
    case = Case(
        name=path.stem,
        source="program",
        language=data["language"],
        topic=data["topic"],
        base=data.get("base", "green"),
        issue=data["issue"].strip(),
        command=data.get("command", COMMANDS[data["language"]]),
        files=files,
        hidden=data["hidden"],
        changes=changes,
    )
    return with_changes(case, (*changes, *derived(case)))


def with_changes(case: Case, changes: Sequence[Change]) -> Case:
    """The case with these changes in place of its own."""
    from dataclasses import replace

    return replace(case, changes=tuple(changes))


def halved(cases: Sequence[Case]) -> list[Case]:
    """The cases with their halves, by the parity of their numbers."""
    from dataclasses import replace

    return [replace(case, half="b" if number % 2 else "a") for number, case in enumerate(cases)]


def _changed(name: str, files: Files, data: Mapping[str, Any]) -> dict[str, str | None]:
    """The files that the edits, the appended texts, the new files and the deletions of a change give."""
    made: dict[str, str | None] = {}
    for path, old, new in data.get("edits", ()):
        text = made.get(path, files.get(path)) or ""
        if text.count(old) != 1:
            raise ValueError(f"{name}, {data['kind']}: {path} has {text.count(old)} times {old!r}")
        made[path] = text.replace(old, new)
    for path, addition in data.get("append", {}).items():
        made[path] = (made.get(path, files.get(path)) or "") + addition
    made.update(data.get("files", {}))
    made.update(dict.fromkeys(data.get("deleted", ())))
    return made
