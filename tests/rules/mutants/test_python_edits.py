"""The faults of Python: what each operator makes, and what is never changed."""

from __future__ import annotations

import pytest

from tests.rules.mutants.faults import all_mutants, results


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("a == b", "comparison", {"a != b"}),
        ("a != b", "comparison", {"a == b"}),
        ("a < b", "comparison", {"a <= b"}),
        ("a <= b", "comparison", {"a < b"}),
        ("a > b >= c", "comparison", {"a >= b >= c", "a > b > c"}),
        ("a in b", "comparison", {"a not in b"}),
        ("a  not  in  b", "comparison", {"a  in  b"}),
        ("a is b", "comparison", {"a is not b"}),
        ("a is not(b)", "comparison", {"a is(b)"}),
        ("a and b or c", "boolean", {"a or b or c", "a and b and c"}),
        ("a = b and not(c)", "boolean", {"a = b or not(c)", "a = b and (c)"}),
        ("f(not x)", "boolean", {"f(x)"}),
        ("a = True", "boolean", {"a = False"}),
        ("if a: b()", "boolean", {"if not (a): b()"}),
        ("if (a): b()", "boolean", {"if not (a): b()"}),
        ("if a < b: c()", "boolean", {"if not (a < b): c()"}),
        # a negation would do what another operator does
        ("if a == b: c()", "boolean", set()),
        ("if not a: b()", "boolean", {"if a: b()"}),
        ("if(not a): b()", "boolean", {"if(a): b()"}),
        ("while a: b()", "boolean", {"while False: b()"}),
        ("while not a: b()", "boolean", {"while False: b()"}),
        ("x = a if b else c", "boolean", {"x = a if not (b) else c"}),
        ("x = [a for a in b if a]", "boolean", {"x = [a for a in b if not (a)]"}),
        ("if a: pass\nelif b: pass", "boolean", {"if not (a): pass\nelif b: pass", "if a: pass\nelif not (b): pass"}),
        ("x = a + b", "arithmetic", {"x = a - b"}),
        ("x = a // b % c", "arithmetic", {"x = a % b % c", "x = a // b // c"}),
        ("x -= a", "arithmetic", {"x += a"}),
        ("x = 2 ** y", "arithmetic", {"x = 2 * y"}),
        ("x = a | b", "arithmetic", {"x = a & b"}),
        ("x = -a", "arithmetic", {"x = a"}),
        ("assert x; y = 0 if x else-a", "arithmetic", {"assert x; y = 0 if x else a"}),
        # such a fault fails wherever it runs
        ("x = a + 'b'", "arithmetic", set()),
        ("x = 'a' + b + c", "arithmetic", set()),
        ("x = '%s' % a", "arithmetic", set()),
        ("x = [0] * a", "arithmetic", set()),
        ("x = 0", "constant", {"x = 1"}),
        ("x = 0x_ff", "constant", {"x = 256"}),
        ("x = 1.5", "constant", {"x = 2.5"}),
        ("x = 1e300", "constant", set()),
        ("x = 2j", "constant", set()),
        ("x = 'a'", "constant", {"x = ''"}),
        ("x = ''", "constant", set()),
        ('x = rb"""a\nb"""', "constant", {'x = rb""""""'}),
        ("x = f'{a}'", "constant", {"x = f''"}),
        ("x = ('a' 'b')", "constant", {"x = ('')"}),
        ("def f():\n    return a", "return", {"def f():\n    return None"}),
        ("def f():\n    return None", "return", set()),
        ("def f():\n    return a < b", "return", {"def f():\n    return not (a < b)"}),
        ("def f():\n    return a, b", "return", {"def f():\n    return None"}),
        ("x = lambda: a", "return", {"x = lambda: None"}),
        ("f(a)", "statement", {"pass"}),
        ("if a: f(b); g(b)", "statement", {"if a: pass; g(b)", "if a: f(b); pass"}),
        ("async def f():\n    await g()", "statement", {"async def f():\n    pass"}),
        ("del a[1]", "statement", {"pass"}),
        ("a.b = c", "statement", {"pass"}),
        ("raise a", "statement", {"pass"}),
        ("for a in b:\n    if a: continue\n    f()", "statement",
         {"for a in b:\n    if a: pass\n    f()", "for a in b:\n    if a: continue\n    pass"}),
    ],
)  # fmt: skip
def test_each_operator_makes_its_fault(text: str, kind: str, expected: set[str]) -> None:
    assert results("a.py", text, kind) == expected


@pytest.mark.parametrize(
    "text",
    [
        "# a == 1",
        '"""A text: 1 == 2."""',
        "def f():\n    'Documents it.'",
        "import a.b as c",
        "from a import b",
        "from __future__ import annotations",
        "def f(a: int | None, *b: 'C') -> Literal['a', 1]: ...",
        "a: int",
        "type X = int | str",
        "X = Literal['a', 'b']",
        "T = TypeVar('T', bound='A')",
        "@cache(maxsize=128)\ndef f(): ...",
        "__all__ = ['a']",
        "__all__ += ['a']",
        "__all__.append('a')",
        "__slots__ = ('a',)",
        "logger.info('a %s', 1 + b)",
        "self._log.warning('a')",
        "logging.getLogger(__name__).debug('a')",
        "warnings.warn('a', stacklevel=2)",
        "if TYPE_CHECKING:\n    a = 1",
        "if typing.TYPE_CHECKING: a = 1",
        "if sys.version_info >= (3, 11): pass",
        "if __name__ == '__main__': pass",
        "assert a == 1, 'message'",
        "global a",
        "super().__init__()",
        "raise NotImplemented" + "Error('a')",
        "def f(): yield",
        # a text that does not parse has no mutants at all
        "a = = 1",
    ],
)
def test_what_checks_cannot_notice_is_never_changed(text: str) -> None:
    assert all_mutants("a.py", text) == ()


@pytest.mark.parametrize(
    "text",
    ["raise E('a' + b)", "raise E(f'a {b + 1}') from c", "x = ValueError('a')", "f(errors.HTTPError('a', f'{b}'))"],
)
def test_the_message_of_an_error_is_not_changed(text: str) -> None:
    assert results("a.py", text, "constant") | results("a.py", text, "arithmetic") == set()


def test_other_values_of_an_error_are_changed() -> None:
    assert results("a.py", "raise E(404, 'a')", "constant") == {"raise E(405, 'a')"}


@pytest.mark.parametrize(
    "text",
    [
        "while a < b:\n    a += c",
        "while self.a:\n    self.a.pop()",
        "while True:\n    f()",
        "while queue:\n    a, queue = queue",
    ],
)
def test_a_statement_that_may_end_a_loop_stays(text: str) -> None:
    assert results("a.py", text, "statement") == set()
    assert not any("-=" in result for result in results("a.py", text, "arithmetic"))
