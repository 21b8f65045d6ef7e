"""What is read of a test file, by its grammar or by its lines."""

from __future__ import annotations

import time

import pytest

from bot.rules.tampering.readings import Reading
from bot.rules.tampering.test_source import parse_tests
from tests.machine import CPU_S
from tests.rules.tampering.weakened_changes import EACH, GO, GO_TABLE, JEST, JUNIT, PYTEST, RUST, TABLES


def read(path: str, text: str) -> Reading:
    return parse_tests(path, text)


def test_cases_have_the_names_of_what_is_around_them() -> None:
    text = "describe('a', () => { context('b', () => { it('c', () => { expect(f()).toBe(1) }) }) })\n"
    assert [(case.groups, case.name) for case in read("a.test.js", text).cases] == [(("a", "b"), "c")]


def test_an_assertion_is_the_same_in_another_layout() -> None:
    one = read("a.test.js", "it('a', () => { expect(f(1, 2)).toEqual({a: 'b', c: [1]}) })\n")
    other = read("a.test.js", 'it("a", () => {\n  expect(\n    f(1, 2),\n  ).toEqual({\n a: "b", c: [1], })\n})\n')
    assert one.cases[0].assertions == other.cases[0].assertions != ()


@pytest.mark.parametrize(
    "text",
    [
        'assert.strictEqual(require("../calc").add(1, 2), 3)',
        'require("assert").strictEqual(add(1, 2), 3)',
        "import { equal as same } from 'node:assert'\nsame(add(1, 2), 3)",
    ],
)
def test_an_assertion_at_the_top_level_is_one(text: str) -> None:
    assert len(read("test/calc.js", text).loose) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "test_a.py",
            "def test_a():\n    assert True\n    assert 1 == 1\n    assert f() == 1 or True\n    assert x == x\n",
        ),
        ("a.test.js", "it('a', () => { expect(true).toBe(true); expect(f()); expect(1).toBe(1) })"),
        ("a_test.go", "func TestA(t *testing.T) { assert.True(t, true) }"),
        ("a.rs", "#[test]\nfn a() { assert!(true); assert_eq!(1, 1); }"),
        ("ATest.java", "class ATest { @Test void a() { assertTrue(true); assertEquals(1, 1); } }"),
        ("a_spec.rb", "it 'a' do\n  expect(true).to be true\nend\n"),
        ("ATest.php", "<?php class ATest { function testA() { $this->assertTrue(true); } }"),
    ],
)
def test_what_cannot_fail_asserts_nothing(path: str, text: str) -> None:
    assert [case.assertions for case in read(path, text).cases] == [()]


def test_code_that_never_runs_holds_nothing() -> None:
    reading = read("test_a.py", "def test_a():\n    if False:\n        assert f()\n    assert g()\n")
    assert reading.cases[0].assertions == ("assertg()",)


def test_calls_of_a_function_that_asserts_are_assertions() -> None:
    text = "def same(a, b):\n    assert a == b\n\ndef test_a():\n    same(f(1), 2)\n    same(f(2), 3)\n"
    assert read("test_a.py", text).cases[0].assertions == ("same(f(1),2)", "same(f(2),3)")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/test_a.py", PYTEST + TABLES),
        ("a.test.ts", JEST + EACH),
        ("a_test.go", GO + GO_TABLE),
        ("a.rs", RUST),
        ("ATest.java", JUNIT),
    ],
)
def test_a_long_file_is_read_quickly(path: str, text: str) -> None:
    lines = text.split("\n")
    read(path, text)
    started = time.process_time()
    reading = read(path, "\n".join((lines * 500)[:5000]))
    assert time.process_time() - started < 1, "0.1 s where nothing else runs"
    assert len(reading.cases) > 500
    assert not reading.by_text


@pytest.mark.parametrize(
    "path", ["test_a.py", "a.test.js", "a_test.go", "a.rs", "ATest.java", "a_spec.rb", "ATest.php"]
)
def test_a_hostile_file_is_read_by_its_lines(path: str) -> None:
    """REQ-PROOF-008."""
    started = time.process_time()
    assert read(path, "(" * 1_000_001).by_text
    assert read(path, "(" * 900_000).cases == ()
    assert time.process_time() - started < CPU_S
