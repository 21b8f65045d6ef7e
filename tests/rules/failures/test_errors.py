"""Kinds of failures, the fingerprints of a log and the block to read first (REQ-RUN-005, REQ-RA-310)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rules.failures.errors import classify, fingerprints
from tests.machine import CPU_S
from tests.rules.failures.read_output import first_error_paragraph


@pytest.mark.parametrize(("stage", "kind"), [("lint", "lint"), ("typecheck", "type"), ("test", "test")])
def test_a_stage_gives_its_kind(stage: str, kind: str) -> None:
    """REQ-RUN-005."""
    assert classify(stage, 1, False, "Segmentation fault") == kind


@pytest.mark.parametrize("exit_code", [None, -9, -11, 126, 127, 130, 134, 137, 139, 143])
@pytest.mark.parametrize("stage", ["lint", "typecheck", "test", "custom"])
def test_a_command_without_its_own_verdict_is_a_runtime_failure(stage: str, exit_code: int | None) -> None:
    """REQ-RUN-005."""
    assert classify(stage, exit_code, False, "FAILED tests/test_a.py::test_x") == "runtime"


def test_a_time_out_is_a_runtime_failure() -> None:
    """REQ-RUN-005."""
    assert classify("test", 1, True, "") == "runtime"


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("src/a.ts(1,2): error TS2345: no", "type"),
        ('a.py:3: error: Incompatible types in assignment  [assignment]\nFound 1 error in 1 file', "type"),
        ("/t/a.py:3:5 - error: bad (reportCallIssue)", "type"),
        ("error[E0308]: mismatched types\n --> src/main.rs:4:18", "type"),
        ("F401 [*] `os` imported but unused\n --> a.py:1:8", "lint"),
        ("a.py:1:8: F401 `os` imported but unused", "lint"),
        ("/t/a.js\n  2:10  error  'a' is unused  no-unused-vars\n\n✖ 1 problem", "lint"),
        ("FAILED tests/test_a.py::test_x - assert 1 == 2", "test"),
        ("  ● sum › adds\n", "test"),
        ("--- FAIL: TestX (0.00s)", "test"),
        ("test result: FAILED. 1 passed; 1 failed", "test"),
        ("not ok 1 - adds", "test"),
        ("  3 passing\n  1 failing\n", "test"),
        ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 3", "runtime"),
        ("sh: 1: foo: not found", "runtime"),
        ("panic: boom", "runtime"),
        ("done, but not well", "unknown"),
        ("", "unknown"),
    ],
)  # fmt: skip
def test_a_custom_command_is_judged_by_its_output(output: str, kind: str) -> None:
    """REQ-RUN-005."""
    assert classify("custom", 1, False, output) == kind


PYTEST = """
    def test_add():
>       assert add(2, 2) == 4
E       assert 0 == 4
E        +  where 0 = add(2, 2)

tests/test_calc.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_calc.py::test_add - assert 0 == 4
========================= 1 failed, 2 passed in 0.02s ==========================
"""
ESLINT = """
/t/src/a.js
  2:10  error    'a' is unused   no-unused-vars
  3:11  warning  Use quotes      quotes

/t/src/b.js
  2:10  error    'a' is unused   no-unused-vars

✖ 3 problems (2 errors, 1 warning)
"""
NPM = """
> sample@1.0.0 test
> node run.js

Error: sum is wrong
    at Object.<anonymous> (/t/run.js:1:7)
npm error Lifecycle script `test` failed with error:
npm error code 1
make: *** [Makefile:2: test] Error 1
"""
NODE_TEST = """
✖ adds (1.229594ms)
✔ handles error (0.255523ms)
ℹ fail 1

✖ failing tests:

test at a.test.js:2:1
✖ adds (1.229594ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  2 !== 3

      at TestContext.<anonymous> (/t/a.test.js:2:27)
      at Test.run (node:internal/test_runner/test:1382:25)
"""
RUSTC = """
error[E0308]: mismatched types
 --> src/main.rs:4:18
  |
4 |     let x: i32 = "error";
  |            ---   ^^^^^^^ expected `i32`, found `&str`

error: aborting due to 1 previous error
For more information about this error, try `rustc --explain E0308`.
error: could not compile `sample` (bin "sample") due to 1 previous error
"""


@pytest.mark.parametrize(
    ("log", "marks"),
    [
        (PYTEST, ["FAILED tests/test_calc.py::test_add - assert 0 == 4"]),
        (
            ESLINT,
            [
                "<PATH>/a.js:<POS> error 'a' is unused no-unused-vars",
                "<PATH>/b.js:<POS> error 'a' is unused no-unused-vars",
            ],
        ),
        (NPM, ["Error: sum is wrong"]),
        (
            NODE_TEST,
            ["FAILED a.test.js › adds - AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 2 !== 3"],
        ),
        (RUSTC, ["<PATH>/main.rs:<POS>: error[E0308]: mismatched types"]),
        ("not ok 3 - adds\nnot ok 4 - adds", ["FAILED adds"]),
        ("  1) sum adds:\n  2) sum adds:", ["sum adds:"]),
        ("a.js:1:1: warning: odd", ["a.js:<POS>: warning: odd"]),
        ("a.js:1:1: warning: odd\na.js:2:1: error: bad", ["a.js:<POS>: error: bad"]),
        ("✓ handles errors (3 ms)\ntests/test_error.py::test_a PASSED\n0 errors, 3 passed\nok 1 - error", []),
        (
            "Found 3 errors in 1 file (checked 2 source files)\n5 failed, 2 passed in 0.31s\nTests: 2 failed, 3 total",
            [],
        ),
        ("", []),
    ],
)
def test_fingerprints_are_the_errors_and_nothing_around_them(log: str, marks: list[str]) -> None:
    assert list(fingerprints(log)) == marks


@pytest.mark.parametrize("sums", ["failures=1", "errors=2, skipped=1", "failures=1, unexpected successes=2"])
def test_the_summary_of_unittest_is_no_error(sums: str) -> None:
    test = "FAIL: test_add (test_calc.Calc.test_add)"
    rule = "-" * 70
    log = f"{'=' * 70}\n{test}\n{rule}\nAssertionError: -1 != 3\n\n{rule}\nRan 1 test in 0.0s\n\nFAILED ({sums})\n"
    assert fingerprints(log) == ("FAILED test_calc.Calc.test_add - AssertionError: -1 != 3",)
    assert fingerprints(f"FAILED ({sums})\n") == ()


def test_the_rest_of_a_pytest_assertion_and_its_summary_are_no_errors_of_their_own() -> None:
    log = (
        "E       AssertionError: Lists differ: [0, 1] != []\nE       \nE       First extra element 0:\nE       0\n"
        "E       \nE       - [0, 1]\nE       + []\n\n"
        "FAILED tests/test_take.py::test_take - AssertionError: Lists differ: [0, 1] != []\n"
        "3 failed, 126 passed, 1 skipped, 113 subtests passed in 1.28s\n"
    )
    assert fingerprints(log) == ("FAILED tests/test_take.py::test_take - AssertionError: Lists differ: [0, 1] != []",)


def test_fingerprints_do_not_move_with_the_lines() -> None:
    moved = PYTEST.replace(":5:", ":17:").replace("0.02s", "1.75s")
    assert fingerprints(moved) == fingerprints(PYTEST)
    there, here = (RUSTC.replace("src/main.rs:4:", f"{place}/src/main.rs:9:") for place in ("/home/a/shop", "/srv/b"))
    assert fingerprints(there) == fingerprints(here) == fingerprints(RUSTC)


def test_the_first_block_is_the_one_to_read() -> None:
    block = first_error_paragraph("collected 3 items\n\n" + PYTEST)
    assert block.startswith("    def test_add():\n>       assert add(2, 2) == 4\nE       assert 0 == 4")
    assert block.endswith("tests/test_calc.py:5: AssertionError")


def test_the_first_block_has_at_most_so_many_lines() -> None:
    log = "error: first\n" + "\n".join(f"detail {number}" for number in range(100))
    assert first_error_paragraph(log).count("\n") == 39
    assert first_error_paragraph(log, max_lines=3) == "error: first\ndetail 0\ndetail 1"


def test_without_an_error_the_end_is_the_block() -> None:
    assert first_error_paragraph("one\n\ntwo\nthree\n", max_lines=2) == "two\nthree"
    assert first_error_paragraph("") == ""


@given(st.text(max_size=2000), st.integers(1, 50))
def test_any_log_gives_bounded_answers(log: str, most: int) -> None:
    assert len(first_error_paragraph(log, most).split("\n")) <= most
    marks = fingerprints(log)
    assert len(marks) <= 200
    assert len(set(marks)) == len(marks)
    assert classify("custom", 1, False, log) in ("lint", "type", "test", "runtime", "unknown")


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "\n",
        "error\n",
        "  1:1 error x\n",
        "1:1 ",
        "(1,1):",
        "a/",
        "'/",
        "E  \n",
        " at a.js:1:1\n",
        "\x1b[",
        "error " * 300 + "\n",
    ],
)
def test_a_large_log_takes_time_in_proportion(piece: str) -> None:
    log = piece * (1_000_000 // len(piece))
    began = time.process_time()
    fingerprints(log)
    first_error_paragraph(log)
    classify("custom", 1, False, log)
    assert time.process_time() - began < CPU_S
