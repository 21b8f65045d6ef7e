"""Commands of test runners that run only some tests, by a table of commands and names."""

from __future__ import annotations

import re

import pytest

from bot.rules.test_runners.selection import MAX_SELECTED, select_files, select_tests, simple_words, with_words

BY_NAME = [
    (
        "python -m unittest",
        ["test_a (tests.test_x.TestX.test_a)"],
        "python -m unittest -v -k '*tests.test_x.TestX.test_a'",
    ),
    ("python3.8 -m unittest", ["test_a (test_x.TestX)"], "python3.8 -m unittest -v -k '*test_x.TestX.test_a'"),
    (
        ".venv/bin/python -W error -m unittest discover -q -s tests",
        ["x.TestX.test_a", "x.TestX.test_b"],
        ".venv/bin/python -W error -m unittest discover -s tests -v -k '*x.TestX.test_a' -k '*x.TestX.test_b'",
    ),
    ("node --test", ["adds"], "node --test '--test-name-pattern=^(adds)$'"),
    (
        "node --test test/*.js",
        ["test/a.test.js › sums > adds two"],
        "node --test '--test-name-pattern=^((sums (. )?)?adds +two)$' test/*.js",
    ),
    ("NODE_ENV=test node --test", ["adds (2)"], "NODE_ENV=test node --test '--test-name-pattern=^(adds( .[0-9]+.)?)$'"),
    ("jest", ["adds two"], "jest --verbose -t '(^| )(adds +two)$'"),
    (
        "npx jest --ci",
        ["src/a.test.js › sums › adds"],
        "npx jest --ci '/src.a.test.js$' --verbose -t '(^| )(sums (. )?adds)$'",
    ),
    (
        "node node_modules/.bin/jest src",
        ["src/a.test.js › adds"],
        "node node_modules/.bin/jest src --verbose -t '(^| )(adds)$'",
    ),
    ("vitest run", ["a.test.ts > sums > adds"], "vitest run --reporter=verbose -t '(^| )(sums (. )?adds)$'"),
    ("mocha --reporter spec test", ["sums adds"], "mocha --reporter spec test -g '(^| )(sums +adds)$'"),
    (
        "go test ./...",
        ["example.com/m/calc.TestAdd", "example.com/m/calc.TestSub/one"],
        "go test -v -count=1 -run '^(TestAdd|TestSub)$' example.com/m/calc",
    ),
    ("go test ./...", ["TestAdd"], "go test -v -count=1 -run '^(TestAdd)$' ./..."),
    ("go test -race ./calc", ["TestAdd"], "go test -v -count=1 -run '^(TestAdd)$' -race ./calc"),
    ("cargo test", ["calc::adds"], "cargo test -- --exact calc::adds"),
    ("cargo test -- --nocapture", ["src/lib.rs › calc::adds"], "cargo test -- --nocapture --exact calc::adds"),
]


@pytest.mark.parametrize(("command", "tests", "expected"), BY_NAME)
def test_a_command_runs_only_the_tests_of_these_names(command: str, tests: list[str], expected: str) -> None:
    words = simple_words(command)
    assert words is not None
    selected = select_tests(words, tests)
    assert selected is not None
    assert with_words(command, selected) == expected


BY_FILE = [
    (
        "python -m unittest discover",
        ["tests/test_x.py"],
        "python -m unittest discover -v -k 'test_x.*' -k '*.test_x.*'",
    ),
    ("node --test", ["test/a.test.js"], "node --test test/a.test.js"),
    ("jest --config jest.ci.js", ["src/a.test.js"], "jest --config jest.ci.js '/src.a.test.js$' --verbose"),
    ("vitest run", ["a.test.ts"], "vitest run a.test.ts --reporter=verbose"),
    ("mocha", ["test/a.js", "test/b.js"], "mocha test/a.js test/b.js"),
    ("go test ./...", ["calc/add_test.go", "calc/sub_test.go", "x_test.go"], "go test -v -count=1 ./ ./calc"),
    ("cargo test --all", ["tests/adds.rs"], "cargo test --all --test adds"),
]


@pytest.mark.parametrize(("command", "paths", "expected"), BY_FILE)
def test_a_command_runs_only_the_tests_of_these_files(command: str, paths: list[str], expected: str) -> None:
    words = simple_words(command)
    assert words is not None
    selected = select_files(words, paths)
    assert selected is not None
    assert with_words(command, selected) == expected


@pytest.mark.parametrize(
    ("command", "tests"),
    [
        ("make test", ["adds"]),
        ("tox run", ["adds"]),
        ("ruby -Itest test/a.rb", ["adds"]),
        ("node test/a.js", ["adds"]),  # a script of its own: which tests it runs is not known
        ("go build ./...", ["TestAdd"]),
        ("python -m pytest", ["adds"]),
        ("jest -t sums", ["adds"]),  # it selects already, and the last one wins
        ("mocha --grep=sums", ["adds"]),
        ("python -m unittest -k sums", ["test_x.TestX.test_a"]),
        ("python -m unittest", ["test_x.TestX.<locals>.test_a"]),
        ("python -m unittest", ["adds"]),
        ("go test ./...", ["Test Add"]),
        ("go test ./... -args -v", ["TestAdd"]),
        ("cargo test sums", ["adds"]),
        ("cargo test", ["src/lib.rs - adds (line 3)"]),
        ("jest", [" "]),
        ("jest", ["***"]),  # nothing is left to select by
        ("jest", []),
        ("jest", [f"adds {number}" for number in range(MAX_SELECTED + 1)]),
        ("jest", ["a" * 20_001]),
    ],
)
def test_what_cannot_be_selected_with_certainty_is_not(command: str, tests: list[str]) -> None:
    words = simple_words(command)
    assert words is not None
    assert select_tests(words, tests) is None


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("jest src", ["a.test.js"]),  # of two patterns the wider one wins
        ("vitest run src", ["a.test.ts"]),
        ("node --test test", ["test/a.test.js"]),
        ("go test ./calc", ["calc/add_test.go"]),
        ("go test ./...", ["calc/add.go"]),
        ("cargo test", ["src/lib.rs"]),
        ("python -m unittest", ["tests/test-x.py"]),
        ("mocha", ["-x.js"]),
        ("mocha", ["$(touch x).js"]),
        ("mocha", ["a'.js"]),
        ("mocha", ["a\n.js"]),
    ],
)
def test_a_file_that_cannot_be_selected_with_certainty_is_not(command: str, paths: list[str]) -> None:
    words = simple_words(command)
    assert words is not None
    assert select_files(words, paths) is None


@pytest.mark.parametrize(
    "text",
    [
        "npm run build && jest",
        "jest | cat",
        "jest; true",
        "jest $(x)",
        "jest `x`",
        "jest > log",
        "jest 'a",
        "",
        "(jest)",
    ],
)
def test_more_than_one_call_of_a_program_is_not_changed(text: str) -> None:
    assert simple_words(text) is None


def test_signs_of_the_shell_inside_quotes_are_words() -> None:
    assert simple_words("mocha 'test/**/*.js' \"a;b\"") == ("mocha", "test/**/*.js", "a;b")


HOSTILE = [
    "adds $(touch hacked)",
    "adds `touch hacked`",
    "adds '; touch hacked; '",
    'adds "; touch hacked; "',
    "adds \\' && touch hacked",
    "adds (two) [x] {y} a.b*c+d?e^f|g",
    "-x --option=y",
    "sümmiert 合計 🚀",
    "calls Foo::bar > baz › qux",
]


@pytest.mark.parametrize("runner", ["node --test", "jest", "vitest", "mocha"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_pattern_matches_a_name_and_holds_nothing_that_a_shell_reads(runner: str, name: str) -> None:
    """REQ-PROOF-006"""
    words = simple_words(runner)
    assert words is not None
    selected = select_tests(words, [name])
    assert selected is not None
    word = selected.added[-1]
    pattern = word.removeprefix("--test-name-pattern=")
    assert not set(pattern) & set("'\"`\\;&<>!#~{}")
    assert not re.search(r"\$[^)]|\$$(?<!\)\$)", pattern.removesuffix("$"))
    utf16 = "".join(character if ord(character) <= 0xFFFF else "xx" for character in name)
    assert re.search(pattern, utf16)
    assert not re.search(pattern, f"{utf16} more")
