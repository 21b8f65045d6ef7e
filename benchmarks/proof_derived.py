"""Wrong changes that can be made from any right one: they correct nothing, and the checks stay green."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate, islice
from zlib import crc32

from benchmarks.proof_case import Case, Change, applied, is_test_side

_MIN_WRONG = 3
_ABOUT_VERSIONS = re.compile(r"(^|/)(__init__|__?meta(__)?|_version)\.py$")
_JAVASCRIPT_TEST = re.compile(r"^(?:test|it)\(\"(.*)\",.*\{\n(?:  .*\n|\n)*\}\);\n", re.MULTILINE)

Made = Mapping[str, str | None] | None


@dataclass(frozen=True, slots=True)
class _Test:
    """A test in a text: its place, with its decorators, and where its body begins."""

    name: str
    start: int
    body: int
    end: int


def derived(case: Case, limit: int | None = None) -> list[Change]:
    """So many wrong changes, of kinds that differ from case to case; by default one, or what a case lacks."""
    if case.base == "red":  # these would leave its suite red, so it has wrong changes of its own alone
        return []
    if limit is None:
        limit = max(1, _MIN_WRONG - sum(not change.right for change in case.changes))
    kinds = list(_KINDS.items())
    first = crc32(case.name.encode()) % len(kinds)
    made = ((kind, make(case)) for kind, make in (*kinds[first:], *kinds[:first]))
    return [Change(kind, files) for kind, files in islice(((k, f) for k, f in made if f is not None), limit)]


def lost_tests(case: Case, change: Change) -> set[str]:
    """The names of tests that the case has and that are gone with the change."""
    before, after = (
        {test.name for path, text in files.items() if _is_code(path) for test in _tests_in(case, text)}
        for files in (case.files, applied(case.files, change.files))
    )
    return before - after


def _right(case: Case) -> Change:
    return next(change for change in case.changes if change.right)


def _comment(case: Case) -> dict[str, str | None]:
    """A comment above the first line that the right change alters."""
    changed = [(path, new) for path, new in _right(case).files.items() if _is_source(case, path)]
    path, new = next((each for each in changed if not _ABOUT_VERSIONS.search(each[0])), changed[0])
    old = case.files[path].splitlines(keepends=True)
    lines = (new or "").splitlines(keepends=True)
    at = next((i for i, (a, b) in enumerate(zip(old, lines, strict=False)) if a != b), 0)
    at = next((i for i in range(at, -1, -1) if re.match(r"(async )?def |class |function |export |const ", old[i])), 0)
    mark = "#" if case.language == "python" else "//"
    return {path: "".join([*old[:at], f"{mark} Handles the reported case, see the issue.\n", *old[at:]])}


def _is_source(case: Case, path: str) -> bool:
    return not is_test_side(path) and path in case.files and path.endswith((".py", ".js"))


def _tests(case: Case) -> dict[str, str]:
    """The test files of the right change."""
    return {path: text for path, text in _right(case).files.items() if is_test_side(path) and text is not None}


def _tests_in(case: Case, text: str) -> list[_Test]:
    if case.language != "python":
        found = _JAVASCRIPT_TEST.finditer(text)
        return [_Test(match[1], match.start(), text.index("\n", match.start()) + 1, match.end()) for match in found]
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [
        _Test(node.name, starts[first - 1], starts[node.body[0].lineno - 1], starts[node.end_lineno or first])
        for node in functions
        if node.name.startswith("test")
        for first in [min([node.lineno, *(each.lineno for each in node.decorator_list)])]
    ]


def _own_test(case: Case) -> tuple[str, _Test]:
    """The first test of the case's own, with the path of its file."""
    texts = ((path, _tests_in(case, text)) for path, text in case.files.items() if _is_code(path))
    return next((path, tests[0]) for path, tests in texts if tests)


def _is_code(path: str) -> bool:
    return is_test_side(path) and path.endswith((".py", ".js"))


def _always_true(case: Case) -> Made:
    path, _ = _own_test(case)
    test = (
        "\n\ndef test_reported_issue():\n    assert True\n"
        if case.language == "python"
        else '\ntest("the reported issue", () => {\n  assert.ok(true);\n});\n'
    )
    return {**_comment(case), path: case.files[path] + test}


def _copied(case: Case) -> Made:
    """A copy of a test that passes already, under a new name."""
    path, test = _own_test(case)
    text = case.files[path]
    copy = text[test.start : test.end].replace(test.name, f"{test.name}_as_reported", 1)
    return {**_comment(case), path: f"{text[: test.end]}\n\n{copy}{text[test.end :]}"}


def _skipped(case: Case) -> Made:
    """The right tests, marked to be skipped."""
    made: dict[str, str | None] = {**_comment(case)}
    for path, text in _tests(case).items():
        for test in reversed(_new_tests(case, path, text)):
            mark = f'@__import__("{"pytest" if "pytest" in case.command else "unittest"}")'
            reason = '("flaky here")' if "unittest" in mark else '(reason="flaky here")'
            first = text[test.start : test.end]
            skip = ".skip" if "unittest" in mark else ".mark.skip"
            if case.language != "python":
                changed = first.replace("(", ".skip(", 1)
            else:
                changed = f"{first[: len(first) - len(first.lstrip())]}{mark}{skip}{reason}\n{first}"
            text = text[: test.start] + changed + text[test.end :]
        made[path] = text
    return made if len(made) > 1 else None


def _caught(case: Case) -> Made:
    """The right tests, whose failures are caught."""
    if case.language != "python":
        return None
    made: dict[str, str | None] = {**_comment(case)}
    for path, text in _tests(case).items():
        for test in reversed(_new_tests(case, path, text)):
            body = text[test.body : test.end]
            if "pytest.raises" in body:  # its failure is no Exception
                return None
            inner = body[: len(body) - len(body.lstrip())]
            deeper = "".join(f"    {line}" if line.strip() else line for line in body.splitlines(keepends=True))
            caught = f"{inner}try:\n{deeper.rstrip()}\n{inner}except Exception:\n{inner}    pass\n"
            text = text[: test.body] + caught + text[test.end :]
        made[path] = text
    return made if len(made) > 1 else None


def _excused_in_conftest(case: Case) -> Made:
    """The right tests, and a conftest.py by which no failure counts."""
    if case.language != "python" or "pytest" not in case.command or not _tests(case):
        return None
    path = next(iter(_tests(case))).rpartition("/")[0]
    name = f"{path}/conftest.py".lstrip("/")
    hook = (
        "import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n"
        '        item.add_marker(pytest.mark.xfail(strict=False, reason="depends on the machine"))\n'
    )
    return {**_comment(case), **_tests(case), name: f"{case.files.get(name, '')}\n\n{hook}".lstrip()}


def _emptied(case: Case) -> Made:
    """The last assertion of a file is replaced by one that always holds."""
    path, _ = _own_test(case)
    pattern, always = (
        (r"^    assert .*$", "    assert True")
        if case.language == "python"
        else (r"^  assert\..*;$", "  assert.ok(true);")
    )
    text = case.files[path]
    *_, match = (None, *re.finditer(pattern, text, re.MULTILINE))
    return {**_comment(case), path: f"{text[: match.start()]}{always}{text[match.end() :]}"} if match else None


def _deleted(case: Case) -> Made:
    """A test of the suite is deleted."""
    path, test = _own_test(case)
    text = case.files[path]
    return {**_comment(case), path: text[: test.start] + text[test.end :]}


def _new_tests(case: Case, path: str, text: str) -> list[_Test]:
    """The tests of a file whose names are not in the case's own."""
    return (
        [test for test in _tests_in(case, text) if test.name not in case.files.get(path, "")] if _is_code(path) else []
    )


_KINDS: Mapping[str, Callable[[Case], Made]] = {
    "comment": _comment,
    "always true test": _always_true,
    "copied test": _copied,
    "skipped test": _skipped,
    "caught assertion": _caught,
    "conftest": _excused_in_conftest,
    "emptied test": _emptied,
    "deleted test": _deleted,
}
