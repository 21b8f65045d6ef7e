"""`.github/mendbot.yml` from text to policy: what is accepted, and how each mistake is told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bot.config import (
    VERB_NAMES,
    CheckPolicy,
    Policy,
    PolicyProblem,
    Settings,
    parse_policy,
    parse_policy_file,
)
from bot.errors import ConfigError
from bot.model.reasons import make_reason
from bot.repo_config.agents import AGENT_NAMES, agent_problem
from bot.reports.locale.reasons import english
from bot.workflows.agents.build_agents import check_specs
from tests.full_policy import FULL


def problems(text: str) -> tuple[PolicyProblem, ...]:
    found = parse_policy(text)
    assert isinstance(found, tuple), found
    return found


def told(text: str) -> list[str]:
    return [f"{problem.line}: {problem.key}: {english(problem.reason)}" for problem in problems(text)]


def policy(text: str) -> Policy:
    found = parse_policy(text)
    assert isinstance(found, Policy), found
    return found


# ---- what is accepted


def test_every_key_is_read() -> None:
    """K-1."""
    read = policy(FULL)
    assert read.model_fields_set == set(Policy.model_fields)
    assert read.setup == ("npm", "ci")
    assert read.checks.test == CheckPolicy(command="make test", timeout=9, report="out/junit.xml")
    assert read.checks.of("lint").command == ("ruff", "check")
    assert read.fixers == ("ruff format .", ("ruff", "check", "--fix"))
    assert read.agents == ("fixers", "history", "command", "command:agent --fast 'a b'")
    assert read.model_dump()["aliases"] == {"/fix": "fix", "/go-on": "resume"}
    wants = read.model_dump()["pull_requests"]
    assert wants == {"enabled": False, "drafts": True, "paths": ("src/**", "!*.md")}


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n", "~", "null\n", "{}", "\ufeff# marked\n"])
def test_a_file_that_says_nothing_is_the_default(text: str) -> None:
    assert policy(text) == Policy()


def test_null_stands_for_what_has_no_default() -> None:
    assert policy("base_branch:\nsetup: ~\nagents: null\n") == Policy()


def test_drafts_are_not_checked_unless_asked_for() -> None:
    assert Policy().model_dump()["pull_requests"] == {"enabled": True, "drafts": False, "paths": ()}


def test_a_policy_survives_being_kept() -> None:
    read = policy(FULL)
    assert Policy.model_validate(json.loads(read.model_dump_json())) == read


@pytest.mark.parametrize("verb", VERB_NAMES)
def test_an_alias_may_stand_for_every_verb(verb: str) -> None:
    assert policy(f"aliases: {{/x: {verb}}}").model_dump()["aliases"] == {"/x": verb}


# ---- how mistakes are told

FOUND = re.compile(r"^=== (.+)\n((?s:.*?))^===>\n((?:\d.*\n)+)", re.MULTILINE)
TOLD = (Path(__file__).parents[2] / "fixtures" / "config_mistakes.txt").read_text(encoding="utf-8")
MISTAKES = {name: (text, expected.splitlines()) for name, text, expected in FOUND.findall(TOLD)} | {
    "too many digits": (
        "max_attempts: " + "9" * 5000,
        [f"1: max_attempts: must be a whole number from 1 to 100, got {'9' * 59}…"],
    ),
    "too long": (f"trigger_label: {'x' * 51}", ["1: trigger_label: must have at most 50 characters"]),
    "long and invisible": (
        'language: "\\e[31m\\u202e' + "x" * 100 + '"',
        [f"1: language: must be en or ko, got '\\x1b[31m\\u202e{'x' * 45}…'"],
    ),
}


def test_all_mistakes_of_the_fixture_are_read() -> None:
    assert len(FOUND.findall(TOLD)) == TOLD.count("\n=== ") == TOLD.count("\n===>")


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_plain_words_with_its_line(name: str) -> None:
    """K-1."""
    text, expected = MISTAKES[name]
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("checks:\n\ttest: {}", 2, "a tab stands where YAML wants spaces"),
        ("a: b: c", 1, "put the text in quotes"),
        ("setup: 'x\n\n", 2, "a quote is not closed"),
        ("checks:\n  lint: {}\n test: {}", 3, "the indentation does not fit"),
        ("setup: 'it's'", 1, "a quote ends too early"),
        ("protected_paths: [*.lock]", 1, "a text that begins with `*` or `&` needs quotes"),
        ("protected_paths: [*lock]", 1, "put it in quotes if it is text"),
        ("setup: @x", 1, "a text that begins with `%`, `@` or a backtick needs quotes"),
        ("checks: {lint: {}", 1, "a bracket is not closed"),
        ("pull_requests: {paths: [!src]}", 1, "a text that begins with `!` needs quotes"),
        ('setup: "C:\\path"', 1, "begins an escape"),
        ("setup: x\nfixers\nlanguage: en", 3, "a key stands without its `:`"),
        ("setup: x\n---\nsetup: y", 2, "a second document begins"),
        ("\n- setup", 2, "must be a mapping of keys to values, got a list"),
        ("just words", 1, "must be a mapping of keys to values, got 'just words'"),
        ("setup: x\n? [a]\n: b", 2, "a key must be a plain word, got a list"),
        ("setup: x\n\0", 2, "holds the control character '\\x00': remove it"),
        ("setup: x\n\ud800", 2, "holds the control character '\\ud800': remove it"),
        ('setup:\n  "a\\0b"', 2, "holds the character '\\x00'"),
        ('setup:\n  "a\\udfffb"', 2, "holds the character '\\udfff'"),
        ("setup: x\u2028\u0085\n\nx: &a *a", 3, "not valid YAML"),
        ("checks:\n  <<: 5", 2, "`<<` must stand before a mapping, got 5"),
        ("x" * 70_000, 1, "is larger than 64 KiB"),
        ("ä" * 40_000, 1, "is larger than 64 KiB"),
    ],
)
def test_what_is_no_such_file_at_all_is_one_problem(text: str, line: int, said: str) -> None:
    (problem,) = problems(text)
    assert (problem.key, problem.line) == ("", line)
    assert said in english(problem.reason)


def test_lines_are_those_of_an_editor_whatever_ends_them() -> None:
    text = "language: fr\r\nmax_attempts: 0\rgroup_by: x\n# \u2028 \x85\nsetup: []\n"
    assert [problem.line for problem in problems(text)] == [1, 2, 3, 5]


def test_problems_stand_in_the_order_of_the_file_with_their_columns() -> None:
    found = problems("language: fr\r\nchecks: { é: {}, test: { timeout: x, comand: y } }\nstop: 3\n")
    assert [(problem.key, problem.line, problem.column) for problem in found] == [
        ("language", 1, 11),
        ("checks.é", 2, 11),
        ("checks.test.timeout", 2, 35),
        ("checks.test.comand", 2, 38),
        ("stop", 3, 7),
    ]


def test_many_problems_are_cut_and_counted() -> None:
    found = problems("".join(f"k{index}: 1\n" for index in range(100)))
    assert [problem.line for problem in found] == list(range(1, 22))
    assert found[-1] == PolicyProblem(key="", reason=make_reason("config.more", count=80), line=21)


@pytest.mark.parametrize(("data", "line"), [(b"\xff", 1), (b"a\r\nb\n\xe4", 3), ("x".encode("utf-16"), 1)])
def test_bytes_that_are_no_utf_8_are_a_problem(data: bytes, line: int) -> None:
    (problem,) = parse_policy_file(data)  # type: ignore[misc]
    assert (problem.line, english(problem.reason)) == (line, "is not UTF-8 text: save it in that encoding")


def test_a_files_bytes_are_read_as_its_text_is() -> None:
    assert parse_policy_file(FULL.encode()) == policy(FULL)
    assert parse_policy_file(b"\xef\xbb\xbf" + FULL.encode()) == policy(FULL)
    assert parse_policy_file(b"#" * 65_536) == Policy()
    cut_within_a_letter = ("ä" * 40_000).encode()[:65_537]
    for large in (b"#" * 65_537, cut_within_a_letter):
        (problem,) = parse_policy_file(large)  # type: ignore[misc]
        assert "larger than 64 KiB" in english(problem.reason)


# ---- agents, as the operator's settings name them


@pytest.mark.parametrize(
    "spec",
    [*AGENT_NAMES, "command:x y", "command:'a b'", "", "llm:openai:gpt", "llm:openai", "llm::x", "llm:x:a b",
     "command:", "command: ", "fixers:x",
     "bash", "command:a 'b", "Fixers"],
)  # fmt: skip
def test_a_repositorys_agents_are_judged_as_the_operators_are(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")  # which the operator must have, too
    try:
        check_specs([spec])
        refused = False
    except ConfigError:
        refused = True
    assert (agent_problem(spec) is not None) is refused
    assert isinstance(parse_policy(json.dumps({"agents": [spec]})), tuple) is refused


def test_the_operators_own_agents_are_ones() -> None:
    assert [agent_problem(spec) for spec in Settings.model_fields["agents"].default] == [None, None, None]
