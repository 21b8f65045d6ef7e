"""Which assignments may be removed without a name that has no value."""

from __future__ import annotations

import pytest

from tests.rules.mutants.faults import all_mutants


@pytest.mark.parametrize(
    "text",
    [
        "a = x",
        "a, b = x",
        "a = b = x",
        "def f():\n    a = x",
        "def f():\n    if b:\n        a = x\n    return a",
        # one branch is no earlier value for the other
        "def f():\n    if b:\n        pass\n    else:\n        a = x",
        "def f(a):\n    def g():\n        a = x",
        "class A:\n    a = x",
        "class A:\n    a: int = x",
        "class A:\n    def __init__(self):\n        self.a = x",
        "def f():\n    a: int\n    a = x",
        "class A:\n    a = b\n    def f(self):\n        a = x",
    ],
)
def test_an_assignment_that_defines_a_name_stays(text: str) -> None:
    assert not any(mutant.kind == "statement" and "x" in mutant.before for mutant in all_mutants("a.py", text))


@pytest.mark.parametrize(
    "text",
    [
        "a = b\na = x",
        "a = b\nif c:\n    a = x",
        "def f(a):\n    a = x",
        "def f(*, a=None):\n    if a:\n        a = x",
        "def f():\n    global a\n    a = x",
        "for a in b:\n    a = x",
        "import a\na = x",
        "def a(): ...\na = x",
        "a, b = c\na, b = x",
        "a[1] = x",
        "a.b = x",
        "class A:\n    def f(self):\n        self.a = x",
        "class A:\n    def __init__(self):\n        self.a = b\n        self.a = x",
    ],
)
def test_an_assignment_of_a_name_that_has_a_value_is_removed(text: str) -> None:
    assert any(mutant.kind == "statement" and mutant.before.endswith("= x") for mutant in all_mutants("a.py", text))
