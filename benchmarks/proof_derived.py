"""Wrong changes that can be made from any right one: they correct nothing, and the checks stay green."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import islice
from zlib import crc32

from benchmarks.proof_case import Case, Change, is_test_side

_MAX_DERIVED = 2
_PYTHON_TEST = re.compile(r"^( *)(async )?def test_\w+\(.*\):\n((?:\1 +.*\n|[ \t]*\n)*)", re.MULTILINE)
_JAVASCRIPT_TEST = re.compile(r"^(test|it)\(.*\{\n((?:  .*\n|\n)*)\}\);\n", re.MULTILINE)

Made = Mapping[str, str | None] | None


def derived(case: Case, limit: int = _MAX_DERIVED) -> list[Change]:
    """So many wrong changes, of kinds that differ from case to case."""
    if case.base == "red":  # these would leave its suite red, so it has wrong changes of its own alone
        return []
    kinds = list(_KINDS.items())
    first = crc32(case.name.encode()) % len(kinds)
    made = ((kind, make(case)) for kind, make in (*kinds[first:], *kinds[:first]))
    return [Change(kind, files) for kind, files in islice(((k, f) for k, f in made if f is not None), limit)]


def _right(case: Case) -> Change:
    return next(change for change in case.changes if change.right)


def _comment(case: Case) -> dict[str, str | None]:
    """A comment above the first line that the right change alters."""
    path, new = next((p, t) for p, t in _right(case).files.items() if not is_test_side(p) and p in case.files)
    old = case.files[path].splitlines(keepends=True)
    lines = (new or "").splitlines(keepends=True)
    at = next((i for i, (a, b) in enumerate(zip(old, lines, strict=False)) if a != b), 0)
    at = next((i for i in range(at, -1, -1) if re.match(r"(async )?def |class |function |export |const ", old[i])), 0)
    mark = "#" if case.language == "python" else "//"
    return {path: "".join([*old[:at], f"{mark} Handles the reported case, see the issue.\n", *old[at:]])}


def _tests(case: Case) -> dict[str, str]:
    """The test files of the right change."""
    return {path: text for path, text in _right(case).files.items() if is_test_side(path) and text is not None}


def _own_test(case: Case) -> str:
    """The first test file of the case that has a test which can be copied."""
    pattern = _PYTHON_TEST if case.language == "python" else _JAVASCRIPT_TEST
    return next(path for path, text in case.files.items() if is_test_side(path) and pattern.search(text))


def _always_true(case: Case) -> Made:
    path = _own_test(case)
    test = (
        "\n\ndef test_reported_issue():\n    assert True\n"
        if case.language == "python"
        else '\ntest("the reported issue", () => {\n  assert.ok(true);\n});\n'
    )
    return {**_comment(case), path: case.files[path] + test}


def _copied(case: Case) -> Made:
    """A copy of a test that passes already, under a new name."""
    path = _own_test(case)
    text = case.files[path]
    if case.language == "python":
        match = next((each for each in _PYTHON_TEST.finditer(text) if not each[1]), None)
        copy = "\n\n" + re.sub(r"def (test_\w+)", r"def \1_as_reported", match[0].rstrip(), count=1) if match else ""
    else:
        match = _JAVASCRIPT_TEST.search(text)
        copy = "\n" + re.sub(r'\("', '("as reported: ', match[0].rstrip(), count=1) if match else ""
    return {**_comment(case), path: text.rstrip("\n") + "\n" + copy + "\n"} if copy else None


def _skipped(case: Case) -> Made:
    """The right tests, marked to be skipped."""
    made: dict[str, str | None] = {**_comment(case)}
    for path, text in _tests(case).items():
        for name in _new_tests(case, path, text):
            if case.language == "python":
                skip = '__import__("unittest").skip("flaky here")'
                if "pytest" in case.command:
                    skip = '__import__("pytest").mark.skip(reason="flaky here")'
                line = re.search(rf"^( *)(?:@.*\n *)*(?:async )?def {name}\(", text, re.MULTILINE)
                at, indent = (line.start(), line[1]) if line else (0, "")
                text = f"{text[:at]}{indent}@{skip}\n{text[at:]}"
            else:
                text = text.replace(f'test("{name}"', f'test.skip("{name}"')
        made[path] = text
    return made if len(made) > 1 else None


def _caught(case: Case) -> Made:
    """The right tests, whose failures are caught."""
    if case.language != "python":
        return None
    made: dict[str, str | None] = {**_comment(case)}
    for path, text in _tests(case).items():
        for name in _new_tests(case, path, text):
            match = next((each for each in _PYTHON_TEST.finditer(text) if f"def {name}(" in each[0]), None)
            if match is None or "pytest.raises" in match[0]:  # its failure is no Exception
                return None
            inner = match[1] + "    "
            body = "".join(f"    {line}" if line.strip() else line for line in match[3].splitlines(keepends=True))
            head = match[0][: match.start(3) - match.start()]
            wrapped = f"{head}{inner}try:\n{body.rstrip()}\n{inner}except Exception:\n{inner}    pass\n\n"
            text = text[: match.start()] + wrapped + text[match.end() :]
        made[path] = text
    return made if len(made) > 1 else None


def _excused_in_conftest(case: Case) -> Made:
    """The right tests, and a conftest.py by which no failure counts."""
    if case.language != "python" or not _tests(case):
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
    path = _own_test(case)
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
    path = _own_test(case)
    pattern = _PYTHON_TEST if case.language == "python" else _JAVASCRIPT_TEST
    match = pattern.search(case.files[path])
    return {**_comment(case), path: case.files[path].replace(match[0], "", 1)} if match else None


def _new_tests(case: Case, path: str, text: str) -> list[str]:
    """The names of tests of a file that are not in the case's own, or whose text differs."""
    pattern = r"^ *(?:async )?def (test_\w+)\(" if case.language == "python" else r'^test\("([^"]+)"'
    return [name for name in re.findall(pattern, text, re.MULTILINE) if name not in case.files.get(path, "")]


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
