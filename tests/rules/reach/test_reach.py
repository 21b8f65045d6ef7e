"""Which evidence excuses a failure, and which does not."""

from __future__ import annotations

import pytest

from bot.model.reasons import Reason
from bot.rules.reach.reach import MAX_FILES, ChangedCode, changed_code, reach_of
from bot.rules.reach.reports import Reports, Script
from bot.rules.tampering.weakened_tests import FileTexts


def code_of(*files: FileTexts) -> tuple[ChangedCode, ...]:
    found = changed_code(files)
    assert isinstance(found, tuple)
    return found


ONE = ((1, ""),)


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        (FileTexts("data.json", "1", "2"), "reach.other_file"),
        (FileTexts("a.go", "1", "2"), "reach.other_file"),
        (FileTexts("a.pyi", "x: int", "x: str"), "reach.other_file"),
        (FileTexts("lib/setup.py", "1", "2"), "reach.other_file"),
        (FileTexts("tests/data.md", "1", "2"), "reach.other_file"),
        (FileTexts("tool.py", "1", "1"), "reach.other_file"),  # its mode
        (FileTexts("vendored", None, None), "reach.other_file"),  # a submodule
        (FileTexts("a.py", "1", None), "reach.deleted"),
        (FileTexts("a.py", "1", "def"), "reach.unparsed"),
        (FileTexts("a.js", "1", "}"), "reach.unparsed"),
    ],
)
def test_a_change_that_no_run_can_measure_is_named(file: FileTexts, kind: str) -> None:
    found = changed_code([FileTexts("b.py", "x = 1", "x = 2"), file])
    assert isinstance(found, Reason) and found.kind == kind


def test_a_change_of_very_many_files_is_not_measured() -> None:
    found = changed_code([FileTexts(f"a{number}.py", "1", "2") for number in range(MAX_FILES + 1)])
    assert isinstance(found, Reason) and found.kind == "reach.too_many"


def test_comments_and_white_space_are_no_code() -> None:
    assert code_of(FileTexts("a.py", "x = 1  # one\n", "x = 1\n\n")) == ()


def test_a_document_has_no_blocks() -> None:
    assert code_of(FileTexts("README.md", "1", "2")) == (ChangedCode("README.md", "", False, ()),)


CODE = code_of(FileTexts("pkg/a.py", "def f():\n    return 1\n", "def f():\n    return 2\n"))


@pytest.mark.parametrize(
    ("reports", "excuses"),
    [
        (Reports(ONE), True),
        (Reports(ONE, ran=frozenset({("pkg/a.py", 1, "<module>")})), True),  # the file is as before outside of `f`
        (Reports(ONE, ran=frozenset({("pkg/a.py", 1, "f")})), False),
        (Reports(ONE, ran=frozenset({("pkg/a.py", 9, "f")})), True),  # another function of that name
        (Reports(ONE, ran=frozenset({("pkg/b.py", 1, "f")})), True),
        (Reports(ONE, opened=frozenset({"pkg/a.py"})), False),
        (Reports(ONE, listed=frozenset({"pkg"})), True),  # the file is not new
        (Reports(ONE, doubts=(("child", "sh"),)), False),
        (Reports(ONE, doubts=(("made up", ""),)), False),
        (Reports(), False),
    ],
)
def test_evidence_of_python(reports: Reports, excuses: bool) -> None:
    assert reach_of(CODE, reports, Reports(), [], "/tree").excuses is excuses


TEXT = "exports.f = () => { return 1 }\n"
NEW = TEXT.replace("return 1", "return 1 + 1")
LENGTH = len(NEW)
NODE = code_of(FileTexts("src/a.js", TEXT, NEW))
RAN = Script("file:///tree/src/a.js", "/tree/src/a.js", ((0, LENGTH, 1), (12, LENGTH - 1, 1)))
LOADED = Script("file:///tree/src/a.js", "/tree/src/a.js", ((0, LENGTH, 1), (12, LENGTH - 1, 0)))
TEST = Script("file:///tree/test/a.js", "/tree/test/a.js", ((0, 9, 1),))


def script(path: str, length: int = 9) -> Script:
    return Script(f"file://{path}", path, ((0, length, 1),))


@pytest.mark.parametrize(
    ("scripts", "expected"),
    [
        ([TEST], ""),
        ([TEST, LOADED], ""),
        ([TEST, LOADED, RAN], "ran"),
        ([], "reach.no_process"),
        ([script("/tree/src/a.js", LENGTH + 60)], "reach.transformed"),
        ([Script("file:///tree/src/a.js", "/tree/src/a.js", ())], "reach.transformed"),
        ([Script("/tree/src/a.js", "", ())], "reach.unnamed"),
        ([Script("evalmachine.<anonymous>", "", ())], "reach.unnamed"),
        ([Script("[eval]", "", ())], ""),
        ([Script("", "", ())], ""),
        ([script("/tree/node_modules/@babel/core/lib/index.js")], "reach.builder"),
        ([script("/tree/node_modules/left-pad/index.js")], ""),
        ([script("/tree/node_modules/own/src/a.js", LENGTH)], "reach.copy"),
        ([script("/tree/node_modules/own/src/a.js", len(TEXT))], "reach.copy"),  # as it was before
        ([script("/tree/node_modules/own/src/a.js", LENGTH + 1)], ""),
        ([script("/tree/dist/all.js")], "reach.built"),
        ([script("/tmp/x/all.js")], "reach.unnamed"),
        ([script("/usr/lib/node_modules/npm/lib/cli.js")], ""),
    ],
)
def test_evidence_of_javascript(scripts: list[Script], expected: str) -> None:
    found = reach_of(NODE, Reports(), Reports(ONE), scripts, "/tree")
    assert (found.not_used.kind if found.not_used else "ran" if found.executed else "") == expected
    assert found.excuses is (expected == "")


def test_typescript_that_no_process_loaded_itself_may_have_been_built() -> None:
    code = code_of(FileTexts("a.ts", "1", "2"))
    assert not reach_of(code, Reports(), Reports(ONE), [TEST], "/tree").excuses


def test_a_change_without_javascript_needs_no_process_of_node() -> None:
    assert reach_of(CODE, Reports(ONE), Reports(), [], "/tree").excuses


BOTH = (*CODE, *NODE)
RAN_IN_PYTHON = Reports(ONE, ran=frozenset({("pkg/a.py", 1, "f")}))
DOUBT = Reports(ONE, doubts=(("child", "sh"),))


@pytest.mark.parametrize(
    ("python", "node", "scripts", "expected"),
    [
        (Reports(ONE), Reports(ONE), [TEST], ""),
        (RAN_IN_PYTHON, Reports(ONE), [TEST], "ran"),
        (Reports(ONE), Reports(ONE), [RAN], "ran"),
        (RAN_IN_PYTHON, DOUBT, [], "ran"),
        (DOUBT, Reports(ONE), [RAN], "ran"),
        (DOUBT, Reports(ONE), [TEST], "reach.child"),
        (Reports(ONE), Reports(), [], "reach.no_process"),
        (Reports(), Reports(ONE), [TEST], "reach.no_process"),
        (Reports(ONE), Reports(ONE, opened=frozenset({"pkg/a.py"})), [TEST], "ran"),
        (Reports(ONE, opened=frozenset({"src/a.js"})), Reports(ONE), [TEST], "ran"),
    ],
)
def test_two_languages_excuse_only_together(
    python: Reports, node: Reports, scripts: list[Script], expected: str
) -> None:
    found = reach_of(BOTH, python, node, scripts, "/tree")
    assert (found.not_used.kind if found.not_used else "ran" if found.executed else "") == expected


@pytest.mark.parametrize(
    ("python", "node", "excuses"),
    [
        (Reports(ONE), Reports(), True),
        (Reports(), Reports(ONE), True),
        (Reports(), Reports(), False),
        (Reports(ONE, opened=frozenset({"README.md"})), Reports(), False),
        (Reports(), Reports(ONE, opened=frozenset({"README.md"})), False),
    ],
)
def test_a_document_is_reached_where_it_is_read(python: Reports, node: Reports, excuses: bool) -> None:
    code = code_of(FileTexts("README.md", "1", "2"))
    assert reach_of(code, python, node, [], "/tree").excuses is excuses
