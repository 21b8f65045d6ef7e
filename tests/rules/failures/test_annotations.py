"""Places in the output of real tools, as annotations of files in the tree (spec A, Annotations; T40)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rules.failures.log_lines import log_lines
from bot.rules.failures.problem_matchers import hinting_lines, hints_at_place
from tests.machine import CPU_S
from tests.rules.failures.read_output import annotations
from tests.rules.failures.tool_outputs import JEST, TOOLS, TREE


@pytest.mark.parametrize("tool", TOOLS)
def test_the_places_of_a_tool_are_found(tool: str) -> None:
    output, expected = TOOLS[tool]
    found = annotations(output, "test", TREE)
    assert [(n.path, n.start_line, n.end_line, n.level, n.message, n.rule) for n in found] == expected


def test_colours_do_not_hide_a_place() -> None:
    coloured = (
        "\x1b[96msrc/b.ts\x1b[0m:\x1b[93m3\x1b[0m:\x1b[93m5\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2345: \x1b[0mNo."
    )
    (note,) = annotations(coloured, "typecheck", TREE)
    assert (note.path, note.start_line, note.rule, note.message) == ("src/b.ts", 3, "TS2345", "No.")


def test_the_title_is_the_rule_the_tests_name_or_the_stage() -> None:
    assert annotations("a.py:1:8: F401 unused", "lint", TREE)[0].title == "F401"
    assert annotations(JEST, "test", TREE)[0].title == "sum › adds"
    assert annotations("a.py:1:8: odd", "lint", TREE)[0].title == "lint"


@pytest.mark.parametrize(
    "line",
    [
        "12:30:45: error",
        "localhost:3000: listening",
        "http://example.org/a.js:3:4: error",
        "see https://example.org/a.js:3:4",
        "/etc/passwd:3:3: error",
        "../outside.py:3:3: error",
        "a/../../outside.py:3:3: error",
        "/t/shopping/a.py:3:3: error",
        "node_modules/x/a.js:1:2: error",
        "/t/shop/.venv/lib/python3.11/site-packages/x.py:1:2: error",
        ".git/config:1:2: error",
        "    at node:internal/main/run_main_module:23:47",
        "    at eval (<anonymous>:1:1)",
        "took 3:4:5",
        "",
    ],
)
def test_what_is_no_place_in_the_tree_is_dropped(line: str) -> None:
    assert annotations(line, "test", TREE) == ()


def test_each_place_is_told_once_and_no_more_than_a_thousand() -> None:
    assert len(annotations("a.py:1:1: error: x\n" * 50, "test", TREE)) == 1
    many = "\n".join(f"a.py:{line}:1: error: x" for line in range(1, 3001))
    assert len(annotations(many, "test", TREE)) == 1000
    assert len(annotations(many, "test", TREE, limit=1000)) == 1000


def test_line_zero_is_line_one() -> None:
    (note,) = annotations("a.py:0:0: error: x", "lint", TREE)
    assert (note.start_line, note.end_line) == (1, 1)


PIECES = st.sampled_from(
    (
        *(
            "a.py",
            "/t/shop/",
            "../",
            ":3",
            ":3:4",
            "(3,4):",
            " error ",
            "\n",
            "  ",
            " --> ",
            "at ",
            'File "',
            '", line 3',
        ),
        *("E   ", "● ", "FAILED ", "❯ ", "::error file=", ",line=", "panicked at ", "'", "\x1b[31m", "\\", "C:", "\0"),
    )
)


@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=300))
def test_any_output_gives_valid_annotations(output: str) -> None:
    for note in annotations(output, "test", TREE):
        assert 1 <= note.start_line <= note.end_line
        assert note.message
        assert not note.path.startswith("/")
        assert ".." not in note.path.split("/")
        assert not any(ord(char) < 32 for char in note.path)


@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=300))
def test_lines_that_may_name_a_place_are_the_same_together_as_one_by_one(output: str) -> None:
    lines = log_lines(output)
    assert hinting_lines(lines) == [index for index, line in enumerate(lines) if hints_at_place(line)]


def test_of_two_stacks_through_the_same_helper_both_errors_are_told() -> None:
    stack = (
        'Traceback (most recent call last):\n  File "t.py", line {}, in t\n'
        '  File "h.py", line 2, in h\nValueError: {}\n'
    )
    notes = annotations(stack.format(3, "one") + stack.format(9, "two"), "test", TREE)
    assert [(n.path, n.start_line, n.message) for n in notes] == [
        ("h.py", 2, "ValueError: one"),
        ("h.py", 2, "ValueError: two"),
    ]


def test_a_panic_in_a_library_is_told_where_the_tree_called_it() -> None:
    panic = "thread 't' panicked at /home/x/.cargo/registry/src/lib/a.rs:3:4:\nno luck\nstack backtrace:\n"
    frames = "   0: core::f\n             at /rustc/1/a.rs:1:1\n   1: shop::f\n             at ./src/lib.rs:7:5\n"
    frames += "   2: shop::g\n             at ./src/lib.rs:9:5\n"
    notes = annotations(panic + frames, "test", TREE)
    assert [(n.path, n.start_line, n.message) for n in notes] == [("src/lib.rs", 7, "no luck")]


LOGS = (
    *("a", "\n", "  1:1  error  x\n", "1:1 ", "(1,1):", "  at a.js:1:1\n", "x.js:1:1\n\n", 'File "a.py", line 3\n'),
    *(" --> a.rs:1:1\n", "a.py:3: AssertionError\n", "a/" * 900 + ":1:1\n", " " * 1900 + "x\n", "a.py:1:1: ("),
    "::error " + "a=b," * 300 + "\n",
)


@pytest.mark.parametrize("piece", LOGS)
def test_a_large_log_takes_time_in_proportion(piece: str) -> None:
    log = piece * (1_000_000 // len(piece))
    began = time.process_time()
    annotations(log, "test", TREE)
    assert time.process_time() - began < CPU_S
