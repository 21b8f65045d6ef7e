"""Warnings are no errors: they are no failures, and where a tool judges code they alone may be what failed it."""

from __future__ import annotations

import pytest

from bot.rules.failures.errors import fingerprints
from bot.rules.failures.warning_lines import graded
from tests.rules.failures.read_output import annotations, first_error_paragraph

BESIDE = "/t/src/a.js\n  2:10  error  'a' is unused  no-unused-vars\n"


@pytest.mark.parametrize(
    "line",
    [
        "a.py:3: UserWarning: an error may come",
        "  /t/tests/test_a.py:26: DeprecationWarning: it cannot stay: error",
        "test_old (test_a.A.test_old) ... /t/test_a.py:18: pkg.mod.CustomWarning: failed",
        "(node:81) Warning: an error to come",
        "m.py:5: note: Revealed type is 'Error'",
        "npm warn deprecated glob@7.2.3: cannot be supported, error",
    ],
)
def test_what_a_program_warns_of_while_it_runs_is_never_what_failed(line: str) -> None:
    assert fingerprints(f"{line}\n") == ()
    assert len(fingerprints(f"{line}\n{BESIDE}")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "  3:11  warning  Missing error handling  node/handle-callback-err",
        "  ⚠  3:11  Missing error handling  node/handle-callback-err",
        "a.js:3:11: warning: an error that is not handled",
        "w.c:2:22: warning: unused variable 'error' [-Wunused-variable]",
        "src/a.ts(3,5): warning TS6133: 'error' is declared but never used.",
        "warning: unused variable: `error`\n --> src/lib.rs:7:9",
        "a.py:1:0: W0611: Unused import error (unused-import)",
        "a.js: line 3, col 5, Warning - Missing error handling (rule)",
        "a.js:3:5: Missing error handling [Warning/rule]",
    ],
)
def test_a_warning_is_no_error_beside_one_and_alone_it_is_what_failed(line: str) -> None:
    beside = fingerprints(f"/t/src/b.js\n{line}\n\n{BESIDE}")
    assert beside == ("<PATH>/a.js:<POS> error 'a' is unused no-unused-vars",)
    assert len(fingerprints(f"/t/src/b.js\n{line}\n")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "DeprecationWarning: old() will go",  # raised: it ends a traceback
        "E   DeprecationWarning: old() will go",
        "a.py:3:5: error: no warning is given",
        "a.js:3:11: error: Warning comments are not allowed",
        "FAILED tests/test_a.py::test_warning - DeprecationWarning: old() will go",
    ],
)
def test_an_error_that_speaks_of_warnings_is_one(line: str) -> None:
    assert graded(line) == "error"


def test_warnings_are_annotated_as_such() -> None:
    log = "tests/test_a.py:3: DeprecationWarning: old() will go\nm.py:5: note: Revealed type is 'int'\n"
    assert [(note.start_line, note.level) for note in annotations(log, "test", "/t")] == [(3, "warning"), (5, "notice")]


def test_the_block_to_read_begins_at_an_error() -> None:
    warned = "".join(f"  {line}:1  warning  Missing error handling  rule\n" for line in range(1, 60))
    assert first_error_paragraph(f"/t/b.js\n{warned}\n{BESIDE}").endswith("no-unused-vars")


def test_the_message_of_a_failed_assertion_is_its_first_line() -> None:
    log = (
        "_____ test_a _____\n\n    def test_a():\n>       assert 'a' == '/x'\n"
        "E       AssertionError: assert 'a' == '/x'\n"
        "E         \nE         - /x\nE         + a\n\ntests/test_a.py:9: AssertionError\n"
    )
    (note,) = annotations(log, "test", "/t")
    assert note.message.splitlines()[0] == "AssertionError: assert 'a' == '/x'"
    assert (note.title, note.start_line) == ("tests/test_a.py::test_a", 9)
