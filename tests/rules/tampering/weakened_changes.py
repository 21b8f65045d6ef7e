"""Changes that weaken checks, and honest ones that look alike: data for the tests of
`rules.tampering.weakened_tests`."""

from __future__ import annotations

from bot.rules.tampering.weakened_tests import FileTexts

PYTEST = """
import pytest


def test_adds():
    assert add(1, 2) == 3
    assert add(0, 0) == 0


class TestMore:
    def test_negative(self):
        assert add(-1, 1) == 0
"""
JEST = """
import { add } from './add'

describe('add', () => {
  it('adds', () => {
    expect(add(1, 2)).toBe(3)
    expect(add(0, 0)).toBe(0)
  })

  it(
    'takes negative numbers',
    async () => {
      await expect(add(-1, 1)).resolves.toBe(0)
    },
  )
})
"""
GO = """
package add

func TestAdds(t *testing.T) {
\tif Add(1, 2) != 3 {
\t\tt.Errorf("got %d", Add(1, 2))
\t}
}

func TestNegative(t *testing.T) {
\trequire.Equal(t, 0, Add(-1, 1))
}
"""
RUST = """
pub fn add(a: i32, b: i32) -> i32 { a + b }

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }

    #[test]
    #[should_panic]
    fn negative() {
        assert!(add(-1, 1) == 0);
    }
}
"""
JUNIT = """
class AddTest {
    @Test
    void adds() {
        assertEquals(3, add(1, 2));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void negative(int n) {
        assertEquals(0, add(-n, n));
    }
}
"""


PY, TS = "tests/test_a.py", "src/a.test.ts"


def change(path: str, before: str | None, *swaps: tuple[str, str]) -> FileTexts:
    after = before or ""
    for old, new in swaps:
        assert old in after
        after = after.replace(old, new)
    return FileTexts(path, before, after)


REFUSED: dict[str, tuple[str, FileTexts]] = {
    "pytest, a test deleted": (
        "deleted_test",
        change(PY, PYTEST, ("    def test_negative(self):\n        assert add(-1, 1) == 0", "    pass")),
    ),
    "pytest, commented out": ("deleted_test", change(PY, PYTEST, ("    def test_neg", "    # def test_neg"))),
    "pytest, in a text block": (
        "deleted_test",
        change(PY, PYTEST, ("class Test", '"""\nclass Test'), ("-1, 1) == 0", '-1, 1) == 0\n"""')),
    ),
    "pytest, no longer collected": (
        "deleted_test",
        change("test_a.py", PYTEST, ("def test_adds", "def _test_adds"), ("== 0", "== 1")),
    ),
    "jest, a test deleted": ("deleted_test", change(TS, JEST, ("  it('adds', ", "  void ("))),
    "jest, in a comment": (
        "deleted_test",
        change(TS, JEST, ("  it('adds'", "/*  it('adds'"), ("0)\n  })", "0)\n  })*/")),
    ),
    "jest, a wrapped one": ("deleted_test", change(TS, JEST, ("  it(\n    'takes negative numbers',", "  void (1,"))),
    "go, a test deleted": (
        "deleted_test",
        change("add_test.go", GO, ("func TestNegative", "func helper"), ("0, Add", "1, Add")),
    ),
    "rust, a test deleted": (
        "deleted_test",
        change("src/lib.rs", RUST, ("    #[test]\n    fn adds", "    fn adds"), ("2), 3", "2), 4")),
    ),
    "junit, a test deleted": ("deleted_test", change("AddTest.java", JUNIT, ("    @Test\n", ""), ("3, add", "4, add"))),
    "a test file deleted": ("deleted_test", FileTexts(PY, PYTEST, None)),
    "a file of a strange tool deleted": ("deleted_test", FileTexts("it/add_test.exs", "test 'x', do: assert 1", None)),
    "pytest, skipped": ("skipped_test", change(PY, PYTEST, ("def test_adds", "@pytest.mark.skip\ndef test_adds"))),
    "pytest, skipped by a condition": (
        "skipped_test",
        change(PY, PYTEST, ("def test_adds", "@pytest.mark.skipif(True, reason='x')\ndef test_adds")),
    ),
    "pytest, expected to fail": ("skipped_test", change(PY, PYTEST, ("class", "@pytest.mark.xfail\nclass"))),
    "pytest, skipped within": (
        "skipped_test",
        change(PY, PYTEST, ("    assert add(1", "    pytest.skip('x')\n    assert add(1")),
    ),
    "pytest, a module": ("skipped_test", change(PY, PYTEST, ("pytest\n", "pytest\npytestmark = pytest.mark.skip\n"))),
    "pytest, not collected": (
        "skipped_test",
        change("tests/conftest.py", "x = 1\n", ("x = 1", "collect_ignore = ['test_a.py']")),
    ),
    "unittest": ("skipped_test", change(PY, PYTEST, ("    def test_n", "    @unittest.skip('x')\n    def test_n"))),
    "jest, it.skip": ("skipped_test", change(TS, JEST, ("it('adds'", "it.skip('adds'"))),
    "jest, xit": ("skipped_test", change(TS, JEST, ("it('adds'", "xit('adds'"))),
    "jest, only another": ("skipped_test", change(TS, JEST, ("it('adds'", "it.only('adds'"))),
    "jest, describe.skip": ("skipped_test", change(TS, JEST, ("describe(", "describe.skip("))),
    "vitest, an option": ("skipped_test", change(TS, JEST, ("'adds', ", "'adds', { skip: true }, "))),
    "go": ("skipped_test", change("add_test.go", GO, ("\tif Add", '\tt.Skip("x")\n\tif Add'))),
    "rust": ("skipped_test", change("src/lib.rs", RUST, ("#[test]\n    fn", "#[test]\n    #[ignore]\n    fn"))),
    "junit": ("skipped_test", change("AddTest.java", JUNIT, ("@Test", '@Test\n    @Disabled("x")'))),
    "an assertion removed": ("fewer_assertions", change(PY, PYTEST, ("    assert add(0, 0) == 0\n", ""))),
    "an assertion that can't fail": ("fewer_assertions", change(PY, PYTEST, ("add(0, 0) == 0", "True"))),
    "an assertion commented out": ("fewer_assertions", change(TS, JEST, ("    expect(add(0", "    // expect(add(0"))),
    "a shared assertion removed": (
        "fewer_assertions",
        change("tests/kit.py", "def same(a, b):\n    assert a == b\n", ("    assert a == b", "    return a, b")),
    ),
    "pytest.ini": ("check_config", change("pytest.ini", "[pytest]\n", ("]", "]\naddopts = -k 'not slow'"))),
    "mypy in pyproject": ("check_config", change("pyproject.toml", "[tool.mypy]\nstrict = true\n", ("true", "false"))),
    "new ruff section": (
        "check_config",
        change("pyproject.toml", "[project]\nname='x'\n", ("x'", "x'\n[tool.ruff]\nselect=[]")),
    ),
    "setup.cfg": ("check_config", change("setup.cfg", "[mypy]\nstrict=1\n", ("strict=1", "ignore_errors=1"))),
    "eslint": ("check_config", change("eslint.config.js", "export default [a]", ("[a]", "[]"))),
    "tsconfig": ("check_config", change("tsconfig.json", '{"strict": true}', ("true", "false"))),
    "a special tsconfig": ("check_config", change("app/tsconfig.build.json", '{"strict": true}', ("true", "false"))),
    "vitest": ("check_config", change("vitest.config.ts", "a", ("a", "exclude: ['x']"))),
    "a script": ("check_config", change("package.json", '{"scripts": {"test": "jest"}}', ('"jest"', '"true"'))),
    "a script removed": (
        "check_config",
        change("package.json", '{"scripts": {"lint": "eslint"}}', ('"lint": "eslint"', "")),
    ),
    "jest in package.json": ("check_config", change("package.json", '{"jest": {}}', ("{}", '{"bail": 1}'))),
    "broken package.json": ("check_config", change("package.json", '{"jest": {}}', ("}}", "}"))),
    "a Makefile's target": ("check_config", change("Makefile", "a:\n\tb\ntest: a\n\tpytest\n", ("\tpytest", "\ttrue"))),
    "Cargo's lints": ("check_config", change("Cargo.toml", "[lints.clippy]\nall = 'deny'\n", ("deny", "allow"))),
    "a config deleted": ("check_config", FileTexts("mypy.ini", "[mypy]\nstrict = true\n", None)),
}
RUST_PANICS = "    #[test]\n    #[should_panic]\n    fn empty() {\n        add(i32::MAX, 1);\n    }\n\n"
FIXTURE = "@pytest.fixture\ndef four(monkeypatch):\n    return 4\n"
HOOK = "def pytest_runtest_makereport(item, call):\n    pass\n"
REFUSED |= {
    "a hook of pytest in a new conftest": ("rigged", FileTexts("conftest.py", None, HOOK)),
    "a hook of pytest beside others": (
        "rigged",
        change("tests/conftest.py", HOOK, ("def ", "def pytest_pyfunc_call(pyfuncitem):\n    return True\n\n\ndef ")),
    ),
    "unittest's load_tests": (
        "rigged",
        change("tests/__init__.py", "\n", ("\n", "def load_tests(loader, tests, pattern):\n    return Suite()\n")),
    ),
    "a module that Python runs first": ("rigged", FileTexts("sitecustomize.py", None, "x = 1\n")),
    "a module in place of the runner": ("rigged", FileTexts("unittest.py", None, "print('OK')\n")),
    "a program in place of the runner": ("rigged", FileTexts("node_modules/.bin/node", None, "#!/bin/sh\n")),
    "a file that make takes for its target": ("rigged", FileTexts("test", None, "x\n")),
    "code that asks for pytest": (
        "rigged",
        change("src/a.py", "x = 1\n", ("1", "2 if 'PYTEST_CURRENT_TEST' in os.environ else 1")),
    ),
    "code that asks for pytest's module": (
        "rigged",
        change("src/a.py", "x = 1\n", ("1", "2 if 'pytest' in sys.modules else 1")),
    ),
    "code that asks for node's runner": (
        "rigged",
        change("src/a.js", "let x = 1\n", ("1", "process.env.NODE_TEST_CONTEXT ? 2 : 1")),
    ),
    "code that asks for go test": ("rigged", change("a.go", "x := 1\n", ("1", 'flag.Lookup("test.v") != nil'))),
    "code that asks for cargo test": ("rigged", change("src/lib.rs", "let x = 1;\n", ("1", "cfg!(test)"))),
    "code that replaces an assertion": (
        "rigged",
        change("src/a.js", "let x = 1\n", ("\n", "\nassert.equal = () => {}\n")),
    ),
    "code that replaces a module's assertion": (
        "rigged",
        change("src/a.js", "let x = 1\n", ("\n", "\nrequire('node:assert').strictEqual = () => {}\n")),
    ),
    "a fixture that replaces the code": (
        "rigged",
        change("conftest.py", FIXTURE, ("    return 4", "    monkeypatch.setattr('a.add', sum)\n    return 4")),
    ),
    "code that ends the process": ("rigged", change("src/a.py", "x = 1\n", ("x = 1", "os._exit(0)"))),
    "code that replaces a runner's function": (
        "rigged",
        change("src/a.js", "let x = 1\n", ("\n", "\nglobal.test = () => {}\n")),
    ),
    "rust, a test expected to panic": (
        "rigged",
        change("src/lib.rs", RUST, ("    #[test]\n    fn adds", "    #[test]\n    #[should_panic]\n    fn adds")),
    ),
    "a script that runs before the test": (
        "check_config",
        change("package.json", '{"scripts": {"test": "jest"}}', ('{"test"', '{"pretest": "sed", "test"')),
    ),
    "errors that make ignores": (
        "check_config",
        change("Makefile", "test:\n\tpytest\n", ("test:", ".IGNORE:\ntest:")),
    ),
    "a makefile that make prefers": ("check_config", FileTexts("GNUmakefile", None, "test:\n\ttrue\n")),
}
TABLES = """
import pytest

CASES = [
    (1, 2),
    (3, 4),
]


@pytest.mark.parametrize(("a", "b"), [(1, 2), (5, 6)])
def test_rows(a, b):
    found = f(a)
    assert found == b


@pytest.mark.parametrize("case", CASES)
def test_list(case):
    assert f(case[0]) == case[1]


class TestMore:
    def test_runs(self):
        f(1)
"""
EACH = """
import { it } from 'vitest'

it.each([[1, 2], [3, 4]])('adds %i', (a, b) => {
  expect(f(a)).toBe(b)
})
for (const word of ['a', 'b']) it(`has ${word}`, () => {
  const found = f(word)
  expect(found).toBe(word)
})
"""
GO_TABLE = """
func TestAdds(t *testing.T) {
\ttests := []struct{ a, b int }{
\t\t{1, 2},
\t\t{3, 4},
\t}
\tfor _, test := range tests {
\t\trequire.Equal(t, test.b, f(test.a))
\t}
}
"""
SCRIPT = """
from calc import add


def test_add():
    assert add(2, 3) == 5


def test_zero():
    assert add(0, 0) == 0


test_add()
test_zero()
assert add(1, 1) == 2
"""
NODE_SCRIPT = """
const { equal } = require('node:assert/strict')
equal(add(1, 2), 3)
equal(add(0, 0), 0)
"""
REFUSED |= {
    "a row of parametrize": ("fewer_rows", change(PY, TABLES, (", (5, 6)", ""))),
    "a row of a list that parametrize names": ("fewer_rows", change(PY, TABLES, ("    (3, 4),\n", ""))),
    "a row of it.each": ("fewer_rows", change(TS, EACH, (", [3, 4]", ""))),
    "a row of a loop": ("fewer_rows", change(TS, EACH, (", 'b'", ""))),
    "a row of Go's table": ("fewer_rows", change("add_test.go", GO_TABLE, ("\t\t{3, 4},\n", ""))),
    "an InlineData": (
        "fewer_rows",
        change("ATest.cs", "[InlineData(1)]\n[InlineData(2)]\n", ("[InlineData(2)]\n", "")),
    ),
    "an early return": ("left_early", change(PY, TABLES, ("    found", "    return\n    found"))),
    "an early return under a condition": (
        "left_early",
        change(PY, TABLES, ("    found", "    if a: return\n    found")),
    ),
    "a failure swallowed": (
        "left_early",
        change(
            PY,
            TABLES,
            ("    assert found == b", "    try:\n        assert found == b\n    except AssertionError:\n        pass"),
        ),
    ),
    "a call suppressed": ("left_early", change(PY, TABLES, ("        f(1)", "        with suppress(Exception): f(1)"))),
    "a run ended": ("left_early", change(PY, TABLES, ("import pytest\n", "import pytest, sys\n\nsys.exit(0)\n"))),
    "JavaScript, an early return": ("left_early", change(TS, EACH, ("  expect(f(a", "  return\n  expect(f(a"))),
    "JavaScript, an empty catch": (
        "left_early",
        change(TS, EACH, ("  expect(f(a)).toBe(b)", "  try { expect(f(a)).toBe(b) } catch {}")),
    ),
    "JavaScript, a run ended": ("left_early", change(TS, EACH, ("it.each", "process.exit(0)\nit.each"))),
    "a shell that goes on": ("left_early", change("tests/run.sh", "set -e\n./a\n", ("./a", "./a || true"))),
    "a class that is not collected": ("not_collected", change(PY, TABLES, ("class TestMore", "class MoreTests"))),
    "a test that is not called": ("not_collected", change("tests/run.py", SCRIPT, ("\ntest_add()\n", "\n"))),
    "an assertion at a script's top level": (
        "fewer_assertions",
        change("tests/run.py", SCRIPT, ("assert add(1, 1) == 2\n", "")),
    ),
    "node:assert at a script's top level": (
        "fewer_assertions",
        change("test/run.cjs", NODE_SCRIPT, ("equal(add(0, 0), 0)\n", "")),
    ),
}
NOTED: dict[str, FileTexts] = {
    "type: ignore": change("src/a.py", "x: int = f()\n", ("f()", "f()  # type: ignore[arg-type]")),
    "noqa": change("src/a.py", "import os\n", ("os", "os  # noqa: F401")),
    "eslint-disable": change("src/a.ts", "let a\n", ("let", "// eslint-disable-next-line no-var\nlet")),
    "ts-ignore": change("src/a.ts", "let a\n", ("let", "// @ts-ignore\nlet")),
    "ts-nocheck": change("src/a.ts", "let a\n", ("let", "// @ts-nocheck\nlet")),
    "nolint": change("a.go", "x := 1\n", ("1", "1 //nolint:errcheck")),
    "allow": change("src/lib.rs", "fn a() {}\n", ("fn", "#[allow(dead_code)]\nfn")),
    "SuppressWarnings": change("A.java", "class A {}\n", ("class", "@SuppressWarnings\nclass")),
}
NEITHER: dict[str, list[FileTexts]] = {
    "nothing changed": [FileTexts(PY, PYTEST, PYTEST)],
    "a file moved": [FileTexts(PY, PYTEST, None), FileTexts("tests/x/test_b.py", None, PYTEST)],
    "a strange file moved": [FileTexts("a_test.exs", "x", None), FileTexts("b/a_test.exs", None, "x")],
    "a test moved": [
        change(PY, PYTEST, ("    def test_negative(self):\n        assert add(-1, 1) == 0", "    x = 1")),
        FileTexts("tests/test_b.py", None, "def test_negative():\n    assert add(-1, 1) == 0\n"),
    ],
    "a skipped test moved": [
        FileTexts(PY, "@pytest.mark.skip\ndef test_a():\n    assert f()\n", None),
        FileTexts("tests/test_b.py", None, "@pytest.mark.skip\ndef test_a():\n    assert f()\n"),
    ],
    "a test renamed": [change(PY, PYTEST, ("test_adds", "test_sums"))],
    "a test renamed and mended": [change(PY, PYTEST, ("test_adds", "test_sums"), ("2) == 3", "2) == 4"))],
    "a jest test renamed": [change(TS, JEST, ("'adds'", '"adds two"'))],
    "a test without assertions renamed": [change(PY, "def test_a():\n    import shop\n", ("test_a", "test_imports"))],
    "a test split": [
        change(PY, PYTEST, ("    assert add(0", "\n\ndef test_zero():\n    assert add(0")),
    ],
    "assertions moved to where tests share them": [
        change(
            PY,
            PYTEST,
            ("    assert add(0, 0) == 0\n", "    _zero()\n"),
            ("import pytest", "def _zero():\n    assert add(0, 0) == 0\n"),
        )
    ],
    "tests added": [change(PY, PYTEST, ("class", "def test_b():\n    assert 2\n\n\nclass"))],
    "a row added": [change(PY, TABLES, ("(1, 2), (5", "(1, 2), (4, 5), (5"))],
    "an expected row": [change(PY, TABLES, ("(5, 6)", "(5, 7)"))],
    "a row moved": [
        change(PY, TABLES, ("    (3, 4),\n", "")),
        FileTexts(
            "tests/test_b.py", None, '@pytest.mark.parametrize("case", [(3, 4)])\ndef test_b(case):\n    f(case)\n'
        ),
    ],
    "an expected list": [change(PY, "def test_a():\n    assert f() == [1, 2]\n", ("[1, 2]", "[1]"))],
    "a helper that returns": [change(PY, PYTEST, ("def test_adds", "def _none():\n    return\n\n\ndef test_adds"))],
    "a test file added": [FileTexts("tests/test_b.py", None, PYTEST)],
    "an expectation mended": [change(PY, PYTEST, ("2) == 3", "2) == 4"))],
    "a skip lifted": [change(PY, "@pytest.mark.skip\ndef test_a():\n    assert f()\n", ("@pytest.mark.skip\n", ""))],
    "a marker said in a string": [change("src/a.py", "x = 1\n", ("1", "'# type: ignore'"))],
    "an ignore moved": [
        change("src/a.py", "import os  # noqa\n", ("  # noqa", "")),
        change("src/b.py", "import os\n", ("os", "os  # noqa")),
    ],
    "an ignore with a comment's text in a glob": [change("src/a.ts", "let a = '/**/*.ts'\n", ("let", "const"))],
    "code": [change("src/fit.py", "model.fit(x)\n", ("x", "x, only=True"))],
    "a dependency": [change("package.json", '{"scripts": {"test": "jest"}}', ("}}", '}, "dependencies": {"a": "1"}}'))],
    "a start script": [change("package.json", '{"scripts": {"start": "a"}}', ('"a"', '"b"'))],
    "a version": [change("pyproject.toml", "[tool.mypy]\nstrict=true\n[project]\nversion='1'", ("'1'", "'2'"))],
    "another tool's table": [change("pyproject.toml", "[tool.poetry]\nname='x'", ("'x'", "'y'"))],
    "the layout of a config": [change("tsconfig.json", '{"strict": true}', ('{"', '{\n  "'))],
    "another target": [change("Makefile", "run:\n\ta\ntest:\n\tpytest\n", ("\ta", "\tb"))],
    "rust, a new test that must panic": [
        change("src/lib.rs", RUST, ("    #[test]\n    fn adds", RUST_PANICS + "    #[test]\n    fn adds"))
    ],
    "a hook that was there": [change("conftest.py", HOOK, ("pass", "return None"))],
    "a conftest moved": [FileTexts("conftest.py", HOOK, None), FileTexts("tests/conftest.py", None, HOOK)],
    "a fixture": [FileTexts("conftest.py", None, "@pytest.fixture\ndef four():\n    return 4\n")],
    "a fixture that stands in for the network, beside a change of code": [
        change("conftest.py", FIXTURE, ("    return 4", "    monkeypatch.setattr('a.fetch', str)\n    return 4")),
        change("src/a.py", "x = 1\n", ("1", "2")),
    ],
    "a new test with a stub": [
        change(
            PY,
            PYTEST,
            ("class", "def test_b(monkeypatch):\n    monkeypatch.setattr('a.b', 1)\n    assert b\n\n\nclass"),
        )
    ],
    "a hook whose work the list of tests shows": [
        FileTexts("conftest.py", None, "def pytest_pycollect_makeitem(collector, name, obj):\n    return None\n")
    ],
    "a hook for options": [FileTexts("conftest.py", None, "def pytest_addoption(parser):\n    pass\n")],
    "a test that asks what runs it": [
        change(PY, PYTEST, ("import pytest\n", "import pytest\n\nX = os.environ.get('PYTEST_CURRENT_TEST')\n"))
    ],
    "code that asked before": [
        change("src/a.py", "x = 'pytest' in sys.modules\n", ("x =", "y = 1\nx =")),
    ],
    "an assertion compared": [change("src/a.js", "f()\n", ("f()", "assert.equal === f"))],
    "a directory of the code named test": [FileTexts("src/test/data", None, "x")],
    "a new Makefile's variable": [change("Makefile", "a:\n\tb\n", ("a:", "X = 1\na:"))],
    "test data": [FileTexts("tests/data/a.json", "{}", None), FileTexts("tests/__init__.py", "", None)],
}
