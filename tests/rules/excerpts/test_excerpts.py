"""The failures that a log shows: name, message, place and lines, from what real tools printed."""

from __future__ import annotations

import pytest

from bot.rules.parsed_output import parse_output
from tests.rules.failures.golden_logs import LOGS as LOGS_DIR
from tests.rules.failures.golden_logs import TREE, Golden, golden
from tests.rules.failures.read_output import shown_failures

LOGS = tuple(one for one in golden() if one.suffix == ".log")
RUNNERS = tuple(one for one in LOGS if one.failed)


@pytest.mark.parametrize("one", RUNNERS, ids=lambda one: one.name)
def test_every_failed_test_is_shown_by_its_name(one: Golden) -> None:
    shown = shown_failures(one.text, TREE)
    assert sorted(failure.name for failure in shown) == list(one.failed)
    assert shown[0].block
    assert all(len(failure.block) <= 3_000 and failure.block.count("\n") < 40 for failure in shown)


def test_places_of_failed_tests_are_those_that_the_log_names() -> None:
    placed = [(one, failure) for one in RUNNERS for failure in shown_failures(one.text, TREE) if failure.line]
    right = [failure for one, failure in placed if (failure.path, failure.line) in one.places]
    assert len(placed) >= 0.9 * sum(len(one.failed) for one in RUNNERS)
    assert len(right) >= 0.98 * len(placed)


def test_a_failure_between_thousands_of_lines_is_found_with_its_values() -> None:
    """The output that a step keeps has lost it; the log has not."""
    before = "".join(f"PASS src/a{number}.test.js\n" for number in range(4_000))
    after = "".join(f"npm warn deprecated left-pad@{number}: no longer maintained\n" for number in range(4_000))
    jest = next(one.text for one in LOGS if one.name == "jest/default.log")
    (first, *_) = shown_failures(before + jest + after, TREE)
    assert (first.name, first.path, first.line) == ("jest.test.js › calc › adds", "jest.test.js", 5)
    assert (first.expected, first.received) == ("4", "0")
    assert "expect(received).toBe(expected)" in first.block


def test_frames_of_frameworks_are_left_out_of_the_lines() -> None:
    spec = next(one.text for one in LOGS if one.name == "node-test/spec.log")
    assert "calc.js:3:9" in shown_failures(spec, TREE)[1].block
    assert all("node:internal" not in failure.block for failure in shown_failures(spec, TREE))


def test_a_log_of_no_known_tool_shows_its_error_and_its_end() -> None:
    log = "start\n\nfatal: it went wrong\n\n" + "work\n" * 200 + "bye\n"
    (only,) = shown_failures(log)
    assert only.message == "fatal: it went wrong"
    assert only.block.startswith("fatal: it went wrong") and only.block.endswith("bye")
    assert shown_failures("") == () and parse_output("", "test").first_error_block == ""


def log(name: str) -> str:
    return (LOGS_DIR / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "said", "in_block"),
    [
        ("npm/usage.log", "npm: EUSAGE: The `npm ci` command can only install with an existing", "lockfileVersion"),
        ("pip/no-version.log", "ERROR: Could not find a version that satisfies", "No matching distribution"),
        ("cargo/no-package.log", "error: no matching package named", "location searched"),
    ],
)
def test_what_stopped_an_installer_is_said_first(name: str, said: str, in_block: str) -> None:
    (only,) = shown_failures("resolving\n" * 500 + log(name))
    assert only.message.startswith(said)
    assert in_block in only.block


@pytest.mark.parametrize(
    ("name", "expected", "received"),
    [
        ("jest/default.log", "4", "0"),
        ("jest/jest-27.log", '"a-b-c"', '"a-b c"'),
        ("vitest/default.log", "4", "0"),
        ("vitest/vitest-1.log", "a-b-c", "a-b c"),
        ("mocha/spec.log", "4", "0"),
        ("node-test/spec.log", "4", "0"),
        ("node-test/tap.log", "4", "0"),
        ("ava/default.log", "4", "0"),
        ("uvu/default.log", "4", "0"),
        ("tape/default.log", "4", "0"),
        ("tape/blocks.log", "'a-b-c'", "'a-b c'"),
        ("tap/default.log", "4", "0"),
        ("jasmine/default.log", "4", "0"),
        ("bun/default.log", '"a-b-c"', '"a-b c"'),
        ("go/test.log", "4", "0"),
    ],
)
def test_expected_and_received_come_from_tools_that_say_which_is_which(name: str, expected: str, received: str) -> None:
    first = shown_failures(log(name), TREE)[0]
    assert (first.expected, first.received) == (expected, received)


def test_nothing_is_claimed_of_a_left_and_a_right_value() -> None:
    first = shown_failures(log("pytest/run-short.log"), TREE)
    assert all(failure.expected == failure.received == "" for failure in first)


@pytest.mark.parametrize(
    ("name", "rule", "message", "place"),
    [
        ("mypy/default.log", "attr-defined", '"order" has no attribute "totl"; maybe "total"?', ("app/orders.py", 26)),
        (
            "mypy/pretty.log",
            "return-value",
            'Incompatible return value type (got "str", expected',
            ("app/orders.py", 36),
        ),
        ("eslint/stylish.log", "no-undef", "'undefinedName' is not defined", ("orders.js", 12)),
        ("tsc/pretty.log", "TS2307", "Cannot find module './nothing'", ("orders.ts", 1)),
        ("ruff/full.log", "F401", "`os` imported but unused", ("app/orders.py", 1)),
        ("cargo/build.log", "E0308", "mismatched types", ("src/lib.rs", 8)),
        ("go/test-build-failed.log", "", "undefined: undefinedThing", ("calc_test.go", 6)),
        ("pyright/default.log", "reportUndefinedVariable", '"undefined_name" is not defined', ("app/orders.py", 42)),
    ],
)
def test_a_finding_has_its_rule_its_words_and_its_place(
    name: str, rule: str, message: str, place: tuple[str, int]
) -> None:
    found = [one for one in shown_failures(log(name), TREE) if one.name == rule and one.message.startswith(message)]
    assert place in [(one.path, one.line) for one in found]


def test_a_rustc_error_keeps_its_code_and_a_row_its_file() -> None:
    error = shown_failures(log("cargo/build.log"), TREE)[0].block
    assert error.startswith("error[E0046]") and "--> src/lib.rs:36:1" in error
    row = shown_failures(log("eslint/stylish.log"), TREE)[0].block
    assert row.split("\n")[0].endswith("broken.js") and "Parsing error" in row
