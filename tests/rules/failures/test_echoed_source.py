"""What tools show around an error is none of its fingerprints: source, docstrings, values, what a test printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.rules.failures.errors import fingerprints
from tests.rules.failures.read_output import printed_errors

LOGS = Path(__file__).parents[3] / "fixtures" / "logs"

PYTEST = """\
=================================== FAILURES ===================================
__________________________________ test_docs ___________________________________

self = <Client of 'a'>, error = ValueError('not found')

    def fetch(self, error):
        \"\"\"Fetch it.

        Error: a docstring says what goes wrong
    ValueError: when it cannot be found
        \"\"\"
        try:
            find("a.py:3: error: no")
        except KeyError as error:
>           raise KeyError("x")
E           KeyError: 'x'

src/a.py:12: KeyError
----------------------------- Captured stdout call -----------------------------
ERROR: connection 7 failed
ValueError: printed by the program
------------------------------ Captured log call -------------------------------
ERROR    root:a.py:3 cannot do it
=================================== PASSES =====================================
___________________________________ test_ok ____________________________________
----------------------------- Captured stderr call -----------------------------
Error: nobody minds
=========================== short test summary info ============================
FAILED tests/test_a.py::test_docs - KeyError: 'x'
1 failed, 1 passed in 0.02s
"""
PYTEST_SHORT = """\
____________________________ ERROR collecting a.py _____________________________
tests/test_a.py:3: in <module>
    raise ImportError("source, not the error")
/usr/lib/python3.11/ast.py:50: in parse
    return compile(source, filename, mode)
E     File "/t/tests/test_a.py", line 3
E       def error(
E                ^
E   SyntaxError: '(' was never closed
"""
PYTEST_LINE = """\
=================================== FAILURES ===================================
/t/test_a.py:3: assert 0 == 4
----------------------------- Captured stderr call -----------------------------
ZeroDivisionError: of a child
/t/test_a.py:9: Failed: not yet
"""
JEST = """\
  ● adds

    expect(received).toEqual(expected) // deep equality

    - Expected  - 1
    + Received  + 1

      Object {
    -   "error": null,
    +   "error": "not found",
      }

      4 |   // Error: a comment
    > 5 |   throw new Error("cannot");
        |             ^

      at Object.<anonymous> (src/a.test.js:5:13)
"""
VITEST = """\
 FAIL  a.test.ts > adds
AssertionError: expected { error: 1 } to deeply equal { error: 2 }

- Expected
+ Received

  {
-   "error": "not found",
+   "error": "cannot",
  }

 ❯ error a.test.ts:5:13
      5|   throw new Error("undefined")
       |         ^
"""
TSC = """\
src/a.ts:3:7 - error TS2322: Type 'string' is not assignable to type 'number'.

3   throw new Error("undefined is not found");
          ~~~~~
"""
RUSTC = """\
error[E0599]: no method named `x` found
  --> src/main.rs:3:5
   |
3  |     panic!("error: cannot");
   |     ^^^^^ method not found in `S`
   |
note: the error is defined here
  --> src/lib.rs:9:1
help: there is a method `error` with a similar name
   |
3  -     a.x().expect("error");
3  +     a.error();
   |
   = help: the trait `Error` is not implemented
"""
MYPY = """\
a.py:3: error: Name "x" is not defined  [name-defined]
        raise ValueError("Error: not found")
                         ^~~~
a.py:3: note: Error codes are listed elsewhere
"""
RUFF = """\
F821 Undefined name `x`
 --> a.py:3:5
  |
2 |     \"\"\"Error: undefined.\"\"\"
3 |     raise ValueError(x)
  |                      ^
  |
help: Remove the Error
1 - raise Error
1 + pass
"""
UNITTEST = """\
ERROR: test_a (tests.test_a.A.test_a)
Error: the docstring of the test
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/t/test_a.py", line 3, in test_a
    with self.assertRaises(
        ValueError, msg="Error: it cannot",
    ):
ValueError: it cannot
"""
GO = """\
--- FAIL: TestA (0.00s)
panic: assignment to entry in nil map

goroutine 6 [running]:
panic({0x51e160, 0x55e2d8})
\t/usr/local/go/src/runtime/panic.go:884 +0x212
shop.Error(...)
\t/t/panic.go:12 +0x1d
FAIL\tshop\t0.002s
"""


@pytest.mark.parametrize(
    ("log", "marks"),
    [
        (PYTEST, ["FAILED tests/test_a.py::test_docs - KeyError: 'x'"]),
        (PYTEST_SHORT, ["FAILED a.py - SyntaxError: '(' was never closed"]),
        (PYTEST_LINE, ["<PATH>/test_a.py:<POS>: assert 0 == 4", "<PATH>/test_a.py:<POS>: Failed: not yet"]),
        (JEST, ["FAILED adds - expect(received).toEqual(expected) // deep equality Object { - \"error\": null,"]),
        (VITEST, ["FAILED a.test.ts > adds - AssertionError: expected { error: 1 } to deeply equal { error: 2 }"]),
        (TSC, ["<PATH>/a.ts:<POS> - error TS2322: Type 'string' is not assignable to type 'number'."]),
        (RUSTC, ["<PATH>/main.rs:<POS>: error[E0599]: no method named `x` found"]),
        (MYPY, ['a.py:<POS>: error: Name "x" is not defined [name-defined]']),
        (RUFF, ["a.py:<POS>: F821 Undefined name `x`"]),
        (UNITTEST, ["FAILED tests.test_a.A.test_a - ValueError: it cannot"]),
        (GO, ["FAILED shop.TestA - panic: assignment to entry in nil map"]),
        ("a.py:3:5: F821 undefined name 'x'\n    raise Error(x)\n          ^", ["a.py:<POS>: F821 undefined name 'x'"]),
        ("A.java:3: error: no\n        throw new Error();\n                  ^", ["A.java:<POS>: error: no"]),
        ("╷\n│ Error: no such resource\n│\n│    3:   error = cannot\n╵", ["│ Error: no such resource"]),
    ],
)  # fmt: skip
def test_an_error_is_what_the_tool_says_and_nothing_that_it_shows_around_it(log: str, marks: list[str]) -> None:
    """REQ-RA-310."""
    assert list(fingerprints(log)) == marks


def test_an_error_that_names_an_exit_status_is_no_wrapper() -> None:
    said = "subprocess.CalledProcessError: Command 'a' returned non-zero exit status 1."
    log = f"E   {said}\n\nFAILED test_a.py::test_a - {said}\nmake: *** [test] Error 1"
    assert fingerprints(log) == (f"FAILED test_a.py::test_a - {said}",)


def test_an_error_is_the_same_however_many_tests_there_are_and_in_whichever_thread_it_comes() -> None:
    """REQ-RA-310."""
    one, other = (f"tests/test_a.py::test_a FAILED{far}" for far in ("   [  6%]", " [100%]"))
    assert fingerprints(one) == fingerprints(other) == ("<PATH>/test_a.py::test_a FAILED",)
    one, other = (f"thread 'tests::adds' ({number}) panicked at src/lib.rs:3:5:" for number in (6711, 81))
    assert fingerprints(one) == fingerprints(other) != ()


@pytest.mark.parametrize("style", ["auto", "long", "short", "native", "line"])
def test_pytest_shows_the_same_errors_in_whichever_style(style: str) -> None:
    """REQ-RA-310."""
    marks = fingerprints((LOGS / "pytest" / f"run-{style}.log").read_text())
    said = {re.sub(r"^E |^FAILED .*? - ", "", mark) for mark in marks}
    assert {"RuntimeError: wrapped", "Failed: not yet", "AssertionError: value:3 was at app.py:<POS>"} <= said
    assert not [mark for mark in marks if re.search(r"^(?:except|with|raise) |object will have|: in \S+$|^_", mark)]


def test_a_finding_that_is_only_a_note_is_still_one() -> None:
    """ShellCheck fails for notes, too."""
    log = "deploy.sh:3:5: note: Double quote to prevent globbing and word splitting. [SC2086]"
    assert len(fingerprints(log)) == 1


def test_each_error_comes_with_the_line_that_was_printed_first() -> None:
    log = "E   AssertionError: /srv/a.py:3 took 0.3s\n\nE   AssertionError: /home/a.py:9 took 1.7s\nmake: *** Error 1"
    printed = "E   AssertionError: /srv/a.py:3 took 0.3s"
    found = printed_errors(log)
    assert {error: said.whole for error, said in found.items()} == {
        "E AssertionError: <PATH>/a.py:<POS> took <TIME>": printed
    }
