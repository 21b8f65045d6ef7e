"""A change that only lays a file out otherwise is known as one, and a fix never is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import Annotation, Validation, ValidationStep
from bot.rules.patches.formatting_only import is_restyled, style_is_no_matter, task_paths
from bot.rules.runs.pipeline import make_validation


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "x = {'a':1,\n 'b':2}\n", 'x = {\n    "a": 1,\n    "b": 2,\n}\n'),
        ("a.py", "def f():\n  '''A.\n  B.'''\n  return u'x'\n", 'def f():\n    """A.\n    B."""\n    return "x"\n'),
        ("a.py", "#note\nx=1\n", "# note\nx = 1\n"),
        ("a.ts", "const a = {b: 'c', d}\nf(a,\n  b)\n", 'const a = { b: "c", d };\nf(\n  a,\n  b,\n);\n'),
        ("a.go", "func f() {\n    x := 1\n}\n", "func f() {\n\tx := 1\n}\n"),
        ("a.rs", "fn f()->i32{1}", "fn f() -> i32 {\n    1\n}\n"),
        ("a.json", '{"a":[1,2]}', '{\n  "a": [1, 2]\n}\n'),
        ("README.md", "* one\n* two\n\n| a|b |\n|-|-|\n", "- one\n- two\n\n| a   | b   |\n| --- | --- |\n"),
        ("docs/x.rst", "Title\n=====\n", "Title\n-----\n"),
    ],
)  # fmt: skip
def test_another_layout_says_the_same(path: str, before: str, after: str) -> None:
    assert is_restyled(path, before, after)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "if x:\n    x += 1\n    f(x)\n", "if x:\n    x += 1\nf(x)\n"),
        ("a.py", "x = 'a  b'\n", "x = 'a b'\n"),
        ("a.py", "x = 1\n", "x = 1  # noqa\n"),
        ("a.py", "x = (\n", "x = ()\n"),
        ("a.py", '"""\n>>> 1 + 1\n3\n"""\n', '"""\n>>> 1 + 1\n2\n"""\n'),
        ("a.js", "return\nx\n", "return x\n"),
        ("a.js", "x = 'a  b'", "x = 'a b'"),
        ("a.js", "x = `a  b`", "x = `a b`"),
        ("a.js", "x = /a  b/", "x = /a b/"),
        ("a.js", "a + +b", "a ++ b"),
        ("a.js", "a - b", "a + b"),
        ("a.js", "f(a, b)", "f(a b)"),
        ("a.js", "x = 'it\\'s'", 'x = "it\\"s"'),
        ("a.c", "x = 'a';", 'x = "a";'),
        ("a.c", "for (;;) x;", "for (;) x;"),
        ("a.json", '{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),
        ("a.yml", "a:\n  b: 1\n", "a:\n    b: 1\n"),
        ("expected.txt", "a  b\n", "a b\n"),
        ("Makefile", "a:\n  b\n", "a:\n\tb\n"),
        ("README.md", "one\n", "two\n"),
    ],
)  # fmt: skip
def test_a_fix_is_no_other_layout(path: str, before: str, after: str) -> None:
    assert not is_restyled(path, before, after)


PIECES = st.lists(st.sampled_from(['"', "'", "`", "/", "*", "\\", "\n", " ", "a", "1", ",", ")", ";", "#", "("]))


@given(st.sampled_from(["a.py", "a.js", "a.go", "a.json", "a.md"]), PIECES)
def test_any_text_is_read_without_an_error(path: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    assert is_restyled(path, text, f"{text}x") is False
    assert is_restyled("a.js", text, text)


def test_layout_is_no_matter_where_a_check_of_something_else_fails() -> None:
    lint = ValidationStep(command="ruff check .", stage="lint", passed=False, skipped=False, exit_code=1, output="")
    tests = lint.model_copy(update={"stage": "test", "command": "pytest"})
    note = Annotation(path="a.py", start_line=1, end_line=1, level="failure", message="no")

    def failed(*steps: ValidationStep) -> Validation:
        return make_validation(steps)

    assert style_is_no_matter(failed(tests))
    assert not style_is_no_matter(failed(lint))
    assert not style_is_no_matter(failed(lint.model_copy(update={"passed": True})))
    assert not style_is_no_matter(None)
    assert task_paths(("b.py",), failed(tests.model_copy(update={"annotations": (note,)}))) == {"a.py", "b.py"}
