"""Mutants of changed lines: only of these, each one new text that parses, in order of place."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.rules.mutants.generate import MAX_MUTANTS, can_mutate, mutants_of
from bot.rules.mutants.grammars import grammar_of
from bot.rules.mutants.mutant import Mutant, encoded
from bot.rules.syntax import MAX_BYTES, parse
from tests.rules.mutants.faults import all_mutants

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("path", "can"),
    [
        *((path, True) for path in ("a.py", "src/b.js", "b.mjs", "b.cjs", "b.jsx", "c.ts", "c.mts", "c.cts", "c.tsx")),
        *((path, False) for path in ("a.go", "a.pyi", "test_a.py", "tests/a.py", "src/a.test.ts", "__tests__/a.js")),
        ("dist/a.min.js", False),
    ],
)
def test_sources_of_three_languages_have_mutants_and_tests_have_none(path: str, can: bool) -> None:
    assert can_mutate(path) is can
    assert bool(mutants_of(path, "x = 1", {1})) is can


def test_only_changed_lines_have_mutants() -> None:
    """REQ-PROOF-001"""
    text = "x = 1\ny = 2\nz = 3\n"
    assert [(fault.line, fault.before) for fault in mutants_of("a.py", text, {2})] == [(2, "2")]
    assert mutants_of("a.py", text, set()) == mutants_of("a.py", text, {0, 4, 99, -1}) == ()


def test_a_fault_names_its_place_and_its_texts() -> None:
    (fault,) = mutants_of("src/a.py", "é = '한'\nif a == b: pass\n", {2})
    assert fault == Mutant("src/a.py", 2, "comparison", "==", "!=", 16, 18)


def kinds(path: str, text: str, *lines: int) -> set[tuple[str, int]]:
    return {(fault.kind, fault.line) for fault in mutants_of(path, text, lines)}


def test_a_statement_of_several_lines_belongs_to_each_of_them() -> None:
    text = "send(\n    a,\n    b,\n)\n"
    assert kinds("a.py", text, 1) == {("statement", 1)}
    assert kinds("a.py", text, 3) == {("statement", 3)}
    assert kinds("a.py", text, 2, 3) == {("statement", 2)}


def test_a_statement_around_another_that_changed_has_no_fault() -> None:
    text = "app.get(a, () => {\n  send(b);\n  send(c);\n});\n"
    assert [fault.before for fault in mutants_of("a.js", text, {2})] == ["send(b);"]
    assert [fault.before for fault in mutants_of("a.js", text, {1})] == [text.strip()]


def test_a_comment_in_a_statement_is_no_change_of_it() -> None:
    assert mutants_of("a.py", "send(\n    # why\n    a,\n)\n", {2}) == ()


def test_equal_results_come_once() -> None:
    text = "def f():\n    return True\n"
    assert [fault.after for fault in all_mutants("a.py", text)] == ["False"]


def test_long_files_have_a_sample_and_longer_ones_nothing() -> None:
    assert len(all_mutants("a.py", "x = 1\n" * (MAX_MUTANTS + 9))) == MAX_MUTANTS
    assert all_mutants("a.py", "x = 1\n#" + "a" * MAX_BYTES) == ()


PYTHON = [
    "if a < b and not c:\n    d(1)\n",
    "def f(é, *, n=3):\n    '''Tut é.'''\n    n -= 1\n    return n if é else -n\n",
    "x = {'ключ': [1, 2.5, 0x10]}  # ß == 1\n",
    "async def g():\n    async with h() as i:\n        await i.send('한국어' + f'{x!r:>{w}}', k=True)\n",
    "class A:\n    y: int = 1 + 2\n\n    def m(self):\n        self.y = self.y * 2 if self.y in (1, 2) else 0\n",
    "try:\n    r = a // b\nexcept (E, F) as e:\n    raise G(f'ü {e}') from e\nelse:\n    r += 1\n",
    "while q:\n    q.pop(); n = n + 1\n    if not q: continue\n",
    "z = [lambda k: k > 1 for k in y if k % 2 == 0 or k is None]\n",
    "match a:\n    case 1 | 'b' if c: pass\n    case _: del d[0]\n",
    "if (n := f(a,\n        b)) >= 1:\n    s = ('x'\n         \"y\")\n",
]
SCRIPT = [
    "if (a < b && !c) { d(1); } else e('ü');\n",
    "const f = (é, n = 3) => { n -= 1; return n ? é : -n; };\n",
    "let x = { 'ключ': [1, 2.5, 0x10n] }; // ß == 1\n",
    "async function g() { await h.send('한국어' + `${x}`, true) }\n",
    "class A { #y = 1 + 2; m() { this.#y = this.#y * 2; return this.#y === 1 || this.#y >= 2 } }\n",
    "for (let i = 0; i < n; i++) { s += i; if (i % 2) continue; k-- }\n",
    "try { r = a ?? b; } catch (e) { throw new Error(`ü ${e}`); }\n",
    "switch (a) { case 1: f(); break; default: delete b.c }\n",
    "export const z = y.filter(k => k > 1).map((k) => ({ k, v: k ** 2 }))\n",
    "do { i += 2 } while (i <= 9)\n",
]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["a.py", "a.js", "a.tsx", "a.ts"]),
    st.lists(st.integers(0, 9), min_size=1, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
)
def test_every_fault_parses_differs_and_keeps_the_rest(path: str, parts: list[int], newline: str) -> None:
    """REQ-PROOF-001"""
    text = "".join((PYTHON if path == "a.py" else SCRIPT)[part] for part in parts).replace("\n", newline)
    faults = all_mutants(path, text)
    assert faults
    results = [fault.apply(text) for fault in faults]
    assert len({text, *results}) == len(results) + 1
    assert [fault.start for fault in faults] == sorted(fault.start for fault in faults)
    grammar = grammar_of(path)
    assert grammar is not None
    for fault, result in zip(faults, results, strict=True):
        source = encoded(text)
        assert source[fault.start : fault.end].decode() == fault.before
        assert fault.line == source[: fault.start].count(b"\n") + 1
        assert encoded(result) == source[: fault.start] + fault.after.encode() + source[fault.end :]
        assert result.count("\n") == result.count(newline)
        assert not parse(grammar, encoded(result)).root_node.has_error
        if path == "a.py":
            ast.parse(result)


@given(st.sampled_from(["a.py", "a.js", "a.ts"]), st.text(max_size=60), st.sets(st.integers(1, 9)))
def test_no_text_is_an_error(path: str, text: str, lines: set[int]) -> None:
    for fault in mutants_of(path, text, lines):
        assert fault.line in lines
        assert fault.apply(text) != text


def test_every_fault_in_this_projects_own_code_is_valid_python() -> None:
    files = sorted((ROOT / "bot").rglob("*.py"))
    for file in random.Random(7).sample(files, 12):
        text = file.read_text()
        for fault in all_mutants("a.py", text):
            ast.parse(fault.apply(text))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "x = " + "+".join(["a"] * 3000)),
        ("a.py", "x = 'b'\nx = (\n" + "and\n".join(["a == b "] * 400) + ")"),
        ("a.py", "x = [\n" + "[\n'a'," * 400 + "1" + "]" * 400 + "]"),
        ("a.js", "x = (\n" + "+\n".join(["a"] * 400) + ")"),
        ("a.js", "function f() { return (\n" + "&&\n".join(["a == b"] * 400) + ") }"),
    ],
)
def test_a_tree_made_to_be_slow_has_no_mutants(path: str, text: str) -> None:
    assert all_mutants(path, text) == ()


def test_a_deep_place_that_did_not_change_hides_no_other() -> None:
    text = "x = (\n" + "+\n".join(["a"] * 400) + ")\ny = 1\n"
    assert [fault.before for fault in mutants_of("a.py", text, {402})] == ["1"]
