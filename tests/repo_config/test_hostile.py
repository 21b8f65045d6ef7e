"""What nobody should write into `.github/mendbot.yml`: no text makes reading it raise, take long or build much, each
problem stands on a line of the file, and the published schema accepts what is accepted."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from bot.config import Policy, PolicyProblem, parse_policy, parse_policy_file, policy_schema
from bot.reports.locale.reasons import english
from tests.full_policy import FULL
from tests.machine import CPU_S

BOMBS = {
    "laughs": "a: &a [x, x]\n"
    + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(9)),
    "few aliases that multiply": "a: &a {"
    + ",".join(f"k{i}: v" for i in range(800))
    + "}\nb: &b {x: *a, y: *a, z: *a}\nc: {x: *b, y: *b, z: *b}",
    "merges that multiply": "a: &a {"
    + ",".join(f"k{i}: v" for i in range(800))
    + "}\nb: &b {<<: [*a, *a, *a]}\nc: {<<: [*b, *b, *b]}",
    "itself": "checks: &c {test: *c}",
    "itself by merging": "checks: &c {<<: *c}",
    "nested": "[" * 65_000,
    "nested without brackets": "- " * 30_000,
    "nested keys": "? " * 30_000,
    "nested over lines": "[\n" * 30_000,
    "items": "fixers: [" + "3," * 32_000 + "]",
    "items without an end": "fixers: [" + "3," * 32_000,
    "keys": "".join(f"k{index}: v\n" for index in range(6_000)),
    "one key": "a: 1\n" * 13_000,
    "one pattern": f"pull_requests: {{paths: ['{'../' * 20_000}']}}",
    "one branch": f"base_branch: '{'a/' * 30_000}'",
    "one agent": f"agents: [command:{'a ' * 30_000}]",
    "lines": "\n" * 65_000 + "a",
}


LIMITS = {
    "laughs": "has more than 20 aliases",
    "few aliases that multiply": "holds more than 5,000 keys and values",
    "merges that multiply": "holds more than 5,000 keys and values",
    "itself": "is nested more than 12 levels deep",
    "itself by merging": "is nested more than 12 levels deep",
    "nested": "is nested more than 12 levels deep",
    "nested over lines": "is nested more than 12 levels deep",
    "items": "holds more than 5,000 keys and values",
    "items without an end": "holds more than 5,000 keys and values",
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_told_by_name_and_number(name: str) -> None:
    found = parse_policy(BOMBS[name])
    assert isinstance(found, tuple)
    assert [english(problem.reason)[: len(LIMITS[name])] for problem in found] == [LIMITS[name]]
    # it shows where the limit is passed, and not at the end of what would have been read
    assert found[0].line <= 15


@pytest.mark.parametrize("name", BOMBS)
def test_what_grows_without_end_is_a_problem_at_once(name: str) -> None:
    start = time.process_time()
    found = parse_policy(BOMBS[name])
    assert time.process_time() - start < CPU_S
    assert isinstance(found, tuple) is (name != "one agent")
    assert (
        max((len(english(problem.reason)) for problem in found if isinstance(problem, PolicyProblem)), default=0) < 400
    )


@pytest.mark.parametrize(
    "text",
    ["!!python/object/apply:os.abort []",
     "setup: !!python/name:os.abort x", "setup: !!set {a}", "aliases: !!bool maybe",

     "max_attempts: !!int three", "max_attempts: !!int ''", "quiet_seconds: !!float ''", "base_branch: !!timestamp x",
     "setup: !!binary '%'", "protected_paths: !!omap [a: b]", "checks: !x {test: {}}"],
)  # fmt: skip
def test_a_tag_makes_nothing_but_a_problem(text: str) -> None:
    found = parse_policy(text)
    assert isinstance(found, tuple)
    assert len(found) == 1


def lines_of(text: str) -> int:
    """As an editor counts: the break at a file's end begins no line."""
    return max(1, len(re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text)))


def is_told_well(text: str) -> None:
    found = parse_policy(text)
    if isinstance(found, Policy):
        Policy.model_validate(json.loads(found.model_dump_json()))
        return
    assert found
    assert [problem.line for problem in found] == sorted(problem.line for problem in found)
    for problem in found:
        assert 1 <= problem.line <= lines_of(text)
        assert english(problem.reason)
        assert (problem.key + english(problem.reason)).isprintable()
        assert len(english(problem.reason)) < 400


@given(st.text(max_size=200))
@example("a\r")
@example("\r\n\r\n")
@example("a: [\n")
@example("\x85a: &a *a")
@example("skip_label: ''")
def test_any_text_is_a_policy_or_problems_within_it(text: str) -> None:
    is_told_well(text)


@given(st.text(alphabet="ab:{}[]-?!&*|>'\"#%@<~ \n\t\\0", max_size=60))
def test_any_yaml_is_a_policy_or_problems_within_it(text: str) -> None:
    is_told_well(text)


PIECES = st.sampled_from(
    [*re.findall(r"[\w/!*.-]+|\n *|[^\w]", FULL), "<<: *lint", "null", "off", "'", "\0", "\ud800", "é"]
)


@given(st.integers(0, len(FULL)), st.integers(0, 60), st.lists(PIECES, max_size=3).map("".join))
def test_a_good_file_with_any_change_is_a_policy_or_problems_within_it(at: int, gone: int, new: str) -> None:
    is_told_well(FULL[:at] + new + FULL[at + gone :])


@given(st.binary(max_size=100))
def test_any_bytes_are_a_policy_or_problems(data: bytes) -> None:
    found = parse_policy_file(data)
    assert isinstance(found, Policy) or all(problem.line >= 1 for problem in found)


KEYS = [*Policy.model_fields, "command", "timeout", "test", "paths", "/fix", "/x", "fix", "zzz", "max_iterations"]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 200), st.floats(), st.text(max_size=5),
    st.sampled_from(["fix", "en", "file", "history", "command:x", "!a", "/a", "..", "a/../b", "main", "3", "true"]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
)


def patterns(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(patterns, schema))
    if not isinstance(schema, dict):
        return set()
    return set().union(*map(patterns, schema.values())) | {schema[key] for key in ("pattern",) if key in schema}


@pytest.mark.parametrize("pattern", sorted(patterns(dict(policy_schema()))))
def test_no_pattern_of_the_schema_makes_an_editor_wait(pattern: str) -> None:
    """Editors match by backtracking, as `re` does: 28 blanks were a quarter of an hour once."""
    for word in ("command:", "!", "/", "a"):
        for tail in (" ", "-", "a", "/"):
            re.search(pattern, word + tail * 2_000 + "\n\0")
            re.search(pattern, word + tail * 2_000)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4))
@example({"pull_requests": {"paths": ["!!a", "b!"]}, "agents": ["command:a\nb"], "aliases": {"/a-b": "fix"}})
def test_what_is_accepted_the_published_schema_accepts_too(values: dict[str, Any]) -> None:
    is_told_well(yaml.safe_dump(values, allow_unicode=True))
    if isinstance(parse_policy(yaml.safe_dump(values, allow_unicode=True)), Policy):
        jsonschema_rs.Draft202012Validator(dict(policy_schema())).validate(values)


@pytest.mark.parametrize(
    "values",
    [{"zzz": 1}, {"checks": {"tets": {}}}, {"max_attempts": 0}, {"max_attempts": "3"}, {"language": "fr"},
     {"setup": []}, {"aliases": {"f x": "fix"}}, {"aliases": ["explode"]}, {"aliases": {"/fix": "explode"}},
     {"agents": ["wizard"]},
     {"agents": ["command: "]}, {"pull_requests": {"paths": ["/a"]}}, {"pull_requests": {"paths": ["!/a"]}},
     {"pull_requests": {"paths": ["!"]}}, {"checks": {"lint": {"report": "/x"}}}, {"trigger_label": "x" * 51}],
)  # fmt: skip
def test_what_editors_can_tell_they_are_told_by_the_schema(values: dict[str, Any]) -> None:
    assert isinstance(parse_policy(json.dumps(values)), tuple)
    assert not jsonschema_rs.Draft202012Validator(dict(policy_schema())).is_valid(values)
