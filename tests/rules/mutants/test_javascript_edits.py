"""The faults of JavaScript and TypeScript: what each operator makes, and what is never changed."""

from __future__ import annotations

import pytest

from tests.rules.mutants.faults import all_mutants, results


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("a == b", "comparison", {"a != b"}),
        ("a !== b", "comparison", {"a === b"}),
        ("a < b", "comparison", {"a <= b"}),
        ("a >= b", "comparison", {"a > b"}),
        ("a && b", "boolean", {"a || b"}),
        ("a ?? b", "boolean", {"a && b"}),
        ("a ?? b ?? c", "boolean", set()),
        ("(a ?? b) ?? c", "boolean", {"(a && b) ?? c", "(a ?? b) && c"}),
        ("a ||= b", "boolean", {"a &&= b"}),
        ("x = !a", "boolean", {"x = a"}),
        ("f(true)", "boolean", {"f(false)"}),
        ("if (a) b();", "boolean", {"if (!(a)) b();"}),
        ("if (a === b) c();", "boolean", set()),
        ("if (!a) b();", "boolean", {"if (a) b();"}),
        ("while (!a) b();", "boolean", {"while (false) b();"}),
        ("do b(); while (a);", "boolean", {"do b(); while (false);"}),
        ("for (; a < b;) c();", "boolean", {"for (; false;) c();"}),
        ("for (;;) c();", "boolean", set()),
        ("x = a ? b : c", "boolean", {"x = !(a) ? b : c"}),
        ("x = a + b", "arithmetic", {"x = a - b"}),
        ("x = a % b", "arithmetic", {"x = a * b"}),
        ("x *= a", "arithmetic", {"x /= a"}),
        ("i++", "arithmetic", {"i--"}),
        ("f(-a)", "arithmetic", {"f(a)"}),
        ("function f() { return-a }", "arithmetic", {"function f() { return a }"}),
        ("x = 'a' + b + c", "arithmetic", set()),
        ("x = a + `${b}`", "arithmetic", set()),
        # would read as a decrement
        ("x = a+-b", "arithmetic", {"x = a+b"}),
        ("x = 1", "constant", {"x = 2"}),
        ("x = 0xff", "constant", {"x = 256"}),
        ("x = 9n", "constant", {"x = 10n"}),
        ("x = .5", "constant", {"x = 1.5"}),
        ("x = 017", "constant", set()),
        ("x = 'a'", "constant", {"x = ''"}),
        ("x = `a${b}`", "constant", {"x = ``"}),
        ("x = ''", "constant", set()),
        ("x = { 'a': 'b', 1: c }", "constant", {"x = { 'a': '', 1: c }"}),
        ("x = <a b='c'>{1}</a>", "constant", {"x = <a b='c'>{2}</a>"}),
        ("function f() { return a; }", "return", {"function f() { return undefined; }"}),
        ("function f() { return a < b; }", "return", {"function f() { return !(a < b); }"}),
        ("function f() { return null; }", "return", set()),
        ("x = a => a.b", "return", {"x = a => undefined"}),
        ("x = a => ({ b })", "return", {"x = a => undefined"}),
        ("f(a);", "statement", {";"}),
        ("if (a) f(b)\nelse g(b)", "statement", {"if (a) ;\nelse g(b)", "if (a) f(b)\nelse ;"}),
        ("async () => { await f(); }", "statement", {"async () => { ; }"}),
        ("delete a.b;", "statement", {";"}),
        ("throw a;", "statement", {";"}),
        ("i += a", "statement", {";"}),
        ("console.log(a)", "statement", {";"}),
    ],
)  # fmt: skip
def test_each_operator_makes_its_fault(text: str, kind: str, expected: set[str]) -> None:
    assert results("a.jsx", text, kind) == expected


@pytest.mark.parametrize(
    "text",
    [
        "// a == 1",
        "/* 1 + 2 */",
        "'use strict';",
        "import a from 'b';",
        "import 'b';",
        "export { a } from 'b';",
        "const a = require('b');",
        "const x = await import('b')",
        "logger.info('a' + 1)",
        "this.#log.warn('a')",
        "console.debug('a')",
        "assert(a === 1)",
        "const x = /a/g",
        "module.exports = a;",
        "exports.a = a;",
        "Object.defineProperty(exports, a, b);",
        "A.prototype.b = function () {};",
        "(function () {})();",
        "class A extends B { constructor() { super(); this.a = b; } }",
    ],
)
def test_what_checks_cannot_notice_is_never_changed(text: str) -> None:
    assert not all_mutants("a.js", text)


@pytest.mark.parametrize(
    "text",
    [
        "interface A { b: 'c' | 1 }",
        "type A = 'b' | 1;",
        "function f<T = 'a'>(a: 1 | 2): a is 1 {}",
        "declare const a: 1;",
        "let a: 'b';",
        "let a = b as 'c';",
        "let a = b satisfies Record<'c', 1>;",
        "let a = f<'b'>;",
        "@a('b', 1) class A {}",
        "abstract class A { abstract f(a: 1): true; }",
    ],
)
def test_types_and_decorators_are_never_changed(text: str) -> None:
    assert all_mutants("a.ts", text) == ()


def test_code_among_types_is_changed() -> None:
    text = "class A { private a: 1 | 2 = 1; f = (b?: 3): 4 => b! + 5; }\nenum E { A = 6 }"
    assert {fault.before for fault in all_mutants("a.ts", text)} == {"1", "b! + 5", "+", "5", "6"}


@pytest.mark.parametrize("text", ["throw new E('a' + b)", "f(new TypeError(`a ${b + 1}`))", "throw Error('a')"])
def test_the_message_of_an_error_is_not_changed(text: str) -> None:
    assert results("a.js", text, "constant") | results("a.js", text, "arithmetic") == set()


@pytest.mark.parametrize(
    "text",
    [
        "while (a < b) { a++; }",
        "while (a) { a.pop(); }",
        "while (true) { f(); }",
        "for (;;) { f(); }",
        "for (let i = 0; i < n; i++) { i += 1; }",
    ],
)
def test_a_statement_that_may_end_a_loop_stays(text: str) -> None:
    assert results("a.js", text, "statement") | results("a.js", text, "arithmetic") == set()
