"""The blocks of code that a change alters."""

from __future__ import annotations

import pytest

from bot.rules.reach.code_blocks import changed_blocks, language_of

PYTHON = '''"""Sums."""

LIMIT = 1


@cache
def add(a, b=LIMIT):
    """Adds."""
    # a comment
    return a + b


class Account:
    def pay(self):
        async def inner():
            if self:
                return 1
            return 2

        return inner
'''
CHANGES = [
    ("LIMIT = 1", "LIMIT = 2", {""}),
    ("return a + b", "return a - b", {"add"}),
    ("return a + b", "x = a\n    return a + b", {"add"}),
    ("# a comment\n    ", "", set()),
    ("# a comment", "# another", set()),
    ("    return a + b", "\n    return a  +  b", set()),
    ('"""Adds."""', '"""Subtracts."""', {""}),  # stored where the function is defined
    ('    """Adds."""\n', "", {""}),
    ("@cache\n", "", {""}),
    ("b=LIMIT", "b=2", {""}),
    ("def add", "def plus", {"", "plus"}),
    ("class Account:", "class Account(dict):", {""}),
    ("return 1", "return 3", {"inner"}),
    ("                return 1\n            return 2", "                return 1\n                return 2", {"inner"}),
    ("async def inner", "def inner", {"pay"}),
    ("return inner", "return inner()", {"pay"}),
    ("    def pay(self):", "    def other(self):\n        return 1\n\n    def pay(self):", {"", "other"}),
]


@pytest.mark.parametrize(("old", "new", "names"), CHANGES)
def test_a_change_alters_the_blocks_that_hold_it(old: str, new: str, names: set[str]) -> None:
    assert old in PYTHON
    changed = changed_blocks("a.py", PYTHON, PYTHON.replace(old, new, 1))
    assert changed is not None and {block.name for block in changed} == names


def test_a_deleted_function_alters_the_block_around_it() -> None:
    after = PYTHON[: PYTHON.index("    def pay")] + "    pass\n"
    changed = changed_blocks("a.py", PYTHON, after)
    assert changed is not None and [block.name for block in changed] == [""]


def test_a_block_knows_the_lines_of_its_head() -> None:
    changed = changed_blocks("a.py", None, PYTHON)
    assert changed is not None
    assert [(block.name, block.first_line, block.line) for block in changed] == [
        ("", 1, 1),
        ("add", 6, 7),
        ("pay", 14, 14),
        ("inner", 15, 15),
    ]


def test_of_equal_functions_those_that_are_new_are_changed() -> None:
    one = "def f():\n    return 1\n"
    changed = changed_blocks("a.py", one, one + "\n\n" + one)
    assert changed is not None and sorted(block.name for block in changed) == ["", "f"]


JAVASCRIPT = """// ü 🚀
function add (a, b) { return a + b }
const sub = (a, b) => a - b
class Account { pay () { return 1 } }
module.exports = { add, sub, *all () { yield 1 } }
"""


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("a + b", "a * b", {"add"}),
        ("a - b", "a / b", {"<anonymous>"}),
        ("return 1", "return 2", {"pay"}),
        ("yield 1", "yield 2", {"all"}),
        ("(a, b) =>", "(a, b = 1) =>", {""}),
        ("// ü 🚀", "", set()),
        ("class Account", "class Purse", {""}),
    ],
)
@pytest.mark.parametrize("path", ["a.js", "a.ts", "a.tsx"])
def test_a_change_of_javascript_alters_the_blocks_that_hold_it(path: str, old: str, new: str, names: set[str]) -> None:
    changed = changed_blocks(path, JAVASCRIPT, JAVASCRIPT.replace(old, new, 1))
    assert changed is not None and {block.name for block in changed} == names


def test_the_offset_of_a_block_counts_units_of_utf_16() -> None:
    changed = changed_blocks("a.js", None, JAVASCRIPT)
    assert changed is not None
    units = JAVASCRIPT.encode("utf-16-le")
    places = {block.name: units[2 * block.offset :].decode("utf-16-le")[:12] for block in changed}
    assert places["add"] == "{ return a +"
    assert places["pay"] == "{ return 1 }"


@pytest.mark.parametrize("text", ["def f(:\n", "class", "x = (" * 1000, "\x00\x01 def"])
def test_a_text_that_cannot_be_parsed_has_no_blocks(text: str) -> None:
    assert changed_blocks("a.py", "", text) is None
    assert changed_blocks("a.py", text, "") is None


def test_deep_nesting_is_read() -> None:
    text = "x = " + "[" * 3000 + "]" * 3000 + "\n"
    assert changed_blocks("a.py", "", text) is not None


@pytest.mark.parametrize(
    ("path", "language"),
    [("a.py", "python"), ("a.mts", "javascript"), ("a.jsx", "javascript"), ("a.go", ""), ("a", "")],
)
def test_the_language_by_which_a_file_is_measured(path: str, language: str) -> None:
    assert language_of(path) == language
