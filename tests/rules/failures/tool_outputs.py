"""What tools print, and the places in it: data for the tests of `rules.failures.annotations`. The tree is `TREE`."""

from __future__ import annotations

TREE = "/t/shop"

JEST = """
  ● sum › adds

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3

      1 | const sum = require('./sum');
    > 3 |   expect(sum(1, 2)).toBe(4);
        |                     ^

      at Object.toBe (src/sum.test.js:3:20)
      at run (src/run.js:1:1)
      at Promise.then.completed (node_modules/jest-circus/build/utils.js:231:10)
"""
NODE_TEST = """
test at a.test.js:2:1
✖ adds (1.229594ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  2 !== 3

      at TestContext.<anonymous> (/t/shop/a.test.js:2:27)
      at Test.run (node:internal/test_runner/test:1382:25)
"""
VITEST = """
 FAIL  src/sum.test.ts > sum > adds
AssertionError: expected 3 to be 4 // Object.is equality
 ❯ src/sum.test.ts:5:20
      3| test('adds', () => {
"""
PYTEST = """
    def test_add():
>       assert add(2, 2) == 4
E       assert 0 == 4
E        +  where 0 = add(2, 2)

tests/test_calc.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_calc.py::test_add - assert 0 == 4
FAILED tests/test_other.py::test_y - KeyError: 3
"""
PYTEST_SHORT = """
tests/test_a.py:3: in test_x
    f()
src/m.py:9: in f
    raise ValueError('x')
E   ValueError: x
"""
TRACEBACK = """
Traceback (most recent call last):
  File "/t/shop/a.py", line 3, in <module>
    f()
  File "/t/shop/m.py", line 9, in f
    json.loads("")
  File "/usr/lib/python3/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
"""
GO = """
# example.com/shop
./a.go:5:2: undefined: foo
vet: ./b.go:6:2: x declared and not used
--- FAIL: TestX (0.00s)
    a_test.go:12: got 3 want 4
FAIL
"""
CARGO = """
error[E0308]: mismatched types
 --> src/main.rs:4:18
  |
warning: unused variable: `x`
 --> src/lib.rs:2:9
thread 'tests::adds' (77) panicked at src/lib.rs:10:9:
assertion `left == right` failed
thread 'old' panicked at 'boom', src/old.rs:1:2
"""
ESLINT = """
/t/shop/src/a.js
  2:10  error    'a' is defined but never used   no-unused-vars
  3:11  warning  Strings must use singlequote    quotes

✖ 2 problems (1 error, 1 warning)
"""

# name: (output, [(path, line, end line, level, message, rule)])
TOOLS: dict[str, tuple[str, list[tuple[str, int, int, str, str, str]]]] = {
    "tsc": (
        "src/a.ts(3,5): error TS2322: Type 'string' is not assignable.\nFound 1 error.",
        [("src/a.ts", 3, 3, "failure", "Type 'string' is not assignable.", "TS2322")],
    ),
    "tsc pretty": ("src/b.ts:3:5 - error TS2345: No.\n\n3   x", [("src/b.ts", 3, 3, "failure", "No.", "TS2345")]),
    "eslint stylish": (
        ESLINT,
        [
            ("src/a.js", 2, 2, "failure", "'a' is defined but never used", "no-unused-vars"),
            ("src/a.js", 3, 3, "warning", "Strings must use singlequote", "quotes"),
        ],
    ),
    "eslint compact": (
        "/t/shop/a.js: line 2, col 10, Error - 'a' is unused. (no-unused-vars)",
        [("a.js", 2, 2, "failure", "'a' is unused.", "no-unused-vars")],
    ),
    "ruff": (
        "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os",
        [("a.py", 1, 1, "failure", "`os` imported but unused", "F401")],
    ),
    "ruff concise": (
        "a.py:1:8: F401 [*] `os` imported but unused",
        [("a.py", 1, 1, "failure", "`os` imported but unused", "F401")],
    ),
    "ruff format": ("Would reformat: a.py", [("a.py", 1, 1, "failure", "not formatted", "")]),
    "mypy": (
        'a.py:3: error: Bad type (have "int, str")  [assignment]\n'
        "b.py:4:5:6:9: error: No  [name-defined]\na.py:9: note: Why",
        [
            ("a.py", 3, 3, "failure", 'Bad type (have "int, str")', "assignment"),
            ("b.py", 4, 6, "failure", "No", "name-defined"),
            ("a.py", 9, 9, "notice", "Why", ""),
        ],
    ),
    "pyright": (
        '/t/shop/a.py:3:5 - error: Type "int" is bad (reportCallIssue)',
        [("a.py", 3, 3, "failure", 'Type "int" is bad', "reportCallIssue")],
    ),
    "pytest": (
        PYTEST,
        [
            ("tests/test_calc.py", 5, 5, "failure", "assert 0 == 4\n+  where 0 = add(2, 2)", ""),
            ("tests/test_other.py", 1, 1, "failure", "KeyError: 3", ""),
        ],
    ),
    "pytest short": (PYTEST_SHORT, [("src/m.py", 9, 9, "failure", "ValueError: x", "")]),
    "traceback": (
        TRACEBACK,
        [("m.py", 9, 9, "failure", "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "")],
    ),
    "jest": (
        JEST,
        [("src/sum.test.js", 3, 3, "failure", "expect(received).toBe(expected) // Object.is equality", "")],
    ),
    "node test": (
        NODE_TEST,
        [
            (
                "a.test.js",
                2,
                2,
                "failure",
                "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 2 !== 3",
                "",
            )
        ],
    ),
    "vitest": (
        VITEST,
        [("src/sum.test.ts", 5, 5, "failure", "AssertionError: expected 3 to be 4 // Object.is equality", "")],
    ),
    "go": (
        GO,
        [
            ("a.go", 5, 5, "failure", "undefined: foo", ""),
            ("b.go", 6, 6, "failure", "x declared and not used", ""),
            ("a_test.go", 12, 12, "failure", "got 3 want 4", ""),
        ],
    ),
    "cargo": (
        CARGO,
        [
            ("src/main.rs", 4, 4, "failure", "mismatched types", "E0308"),
            ("src/lib.rs", 2, 2, "warning", "unused variable: `x`", ""),
            ("src/lib.rs", 10, 10, "failure", "assertion `left == right` failed", ""),
            ("src/old.rs", 1, 1, "failure", "boom", ""),
        ],
    ),
    "workflow command": (
        "::error file=a.js,line=3,endLine=5,title=Bad::It is bad",
        [("a.js", 3, 5, "failure", "It is bad", "")],
    ),
    "javac": ("A.java:5: error: ';' expected", [("A.java", 5, 5, "failure", "';' expected", "")]),
    "pylint": ("a.py:3:0: C0114: Missing docstring", [("a.py", 3, 3, "warning", "Missing docstring", "C0114")]),
    "hadolint": ("Dockerfile:3 DL3008 warning: Pin it", [("Dockerfile", 3, 3, "warning", "Pin it", "DL3008")]),
    "golangci": ("a/b.go:8:10: Not checked (errcheck)", [("a/b.go", 8, 8, "failure", "Not checked", "errcheck")]),
    "msbuild": ("a.cs(5,17): error CS0029: No", [("a.cs", 5, 5, "failure", "No", "CS0029")]),
    "anywhere": (
        "Could not resolve at src/a.ts:3:4 now",
        [("src/a.ts", 3, 3, "failure", "Could not resolve at src/a.ts:3:4 now", "")],
    ),
}
