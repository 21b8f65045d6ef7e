"""Finds the tests that a pull request adds or alters, by the text of its test files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bot.rules.tampering.test_source import parse_tests
from bot.rules.tampering.weakened_tests import FileTexts

_PARAMETERS = re.compile(r"\[.*$", re.DOTALL)
_BOUNDARIES = " :./>›"
"""Characters that part the title of a test from those around it."""


def changed_cases(files: Sequence[FileTexts]) -> Mapping[str, frozenset[str]]:
    """The names of the tests that are new or have another text, by their file."""
    return {file.path: names for file in files if file.after is not None and (names := _changed(file))}


def _changed(file: FileTexts) -> frozenset[str]:
    before = {(case.name, case.lines) for case in parse_tests(file.path, file.before or "").cases}
    return frozenset(
        case.name for case in parse_tests(file.path, file.after or "").cases if (case.name, case.lines) not in before
    )


def changed_tests(names: Iterable[str], cases: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Those of the tests, named as their runner does, that are among the changed ones."""
    return tuple(name for name in dict.fromkeys(names) if any(_is_of(name, path, cases[path]) for path in cases))


def _is_of(name: str, path: str, cases: frozenset[str]) -> bool:
    file, parted, rest = name.partition("::")
    if parted and "." in file and not (path == file or path.endswith(f"/{file}") or file.endswith(f"/{path}")):
        return False
    title = _PARAMETERS.sub("", rest or name)
    return any(title.endswith(case) and title[: -len(case)][-1:] in ("", *_BOUNDARIES) for case in cases if case)
