"""SARIF logs as annotations, and what is no such log as a reason (OASIS SARIF 2.1.0; T33)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.locale.reasons import english
from bot.rules.failures.junit import Unreadable
from bot.rules.report_files.sarif import sarif_annotations

TREE = "/t/shop"
PLACE = {"physicalLocation": {"artifactLocation": {"uri": "src/a.py"}, "region": {"startLine": 3, "endLine": 5}}}


def log(*results: Any, **run: Any) -> str:
    return json.dumps({"version": "2.1.0", "runs": [{"results": list(results), **run}]})


def result(**more: Any) -> dict[str, Any]:
    return {"message": {"text": "It is bad"}, "ruleId": "X1", "level": "error", "locations": [PLACE], **more}


def at(uri: str, **location: Any) -> list[Any]:
    return [{"physicalLocation": {"artifactLocation": {"uri": uri, **location}}}]


def found(text: str) -> list[tuple[str, int, int, str, str, str]]:
    notes = sarif_annotations(text, "lint", TREE)
    assert isinstance(notes, tuple), notes
    return [(n.path, n.start_line, n.end_line, n.level, n.message, n.rule) for n in notes]


def test_a_result_is_told_at_its_place() -> None:
    assert found(log(result())) == [("src/a.py", 3, 5, "failure", "It is bad", "X1")]


@pytest.mark.parametrize(
    ("level", "told"), [("error", "failure"), ("warning", "warning"), ("note", "notice"), ("none", "notice")]
)
def test_levels_are_translated(level: str, told: str) -> None:
    assert found(log(result(level=level)))[0][3] == told


def test_without_a_level_the_rule_decides_and_else_it_is_a_warning() -> None:
    rule = {"id": "X1", "defaultConfiguration": {"level": "error"}, "messageStrings": {"m": {"text": "No {0} in {1}"}}}
    bare = {key: value for key, value in result().items() if key != "level"}
    driver = {"driver": {"rules": [rule]}}
    assert found(log(bare, tool=driver))[0][3] == "failure"
    assert found(log(bare))[0][3] == "warning"
    told = found(log(result(message={"id": "m", "arguments": ["a", "b"]}, ruleIndex=0), tool=driver))
    assert told[0][4] == "No a in b"


@pytest.mark.parametrize(
    "more",
    [
        {"suppressions": [{"kind": "inSource"}]},
        {"kind": "pass"},
        {"baselineState": "absent"},
        {"locations": []},
        {"locations": at("/etc/passwd")},
        {"locations": at("../x.py")},
        {"locations": at("https://example.org/a.py")},
        {"locations": at("%2e%2e/x.py")},
        {"locations": at("a%00.py")},
    ],
)
def test_what_is_no_finding_in_the_tree_is_left_out(more: dict[str, Any]) -> None:
    assert found(log(result(**more))) == []


def test_places_are_found_by_uri_base_and_index() -> None:
    assert found(log(result(locations=at("file:///t/shop/my%20dir/a.py"))))[0][0] == "my dir/a.py"
    bases = {"SRC": {"uri": "file:///t/shop/pkg/"}, "CI": {"uri": "file:///elsewhere/"}, "A": {"uriBaseId": "A"}}
    assert found(log(result(locations=at("a.py", uriBaseId="SRC")), originalUriBaseIds=bases))[0][0] == "pkg/a.py"
    assert found(log(result(locations=at("a.py", uriBaseId="CI")), originalUriBaseIds=bases))[0][0] == "a.py"
    assert found(log(result(locations=at("a.py", uriBaseId="A")), originalUriBaseIds=bases))[0][0] == "a.py"
    by_index = [{"physicalLocation": {"artifactLocation": {"index": 0}}}]
    assert found(log(result(locations=by_index), artifacts=[{"location": {"uri": "b.py"}}]))[0][0] == "b.py"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[" * 200_000, "nested"),
        ("[]", "no SARIF"),
        ('{"runs": 3}', "no SARIF"),
        ('{"runs": [], "version": "1.0.0"}', "version"),
        ('{"version": ' + "9" * 5_000 + "}", "no JSON"),
    ],
)
def test_what_is_no_sarif_is_a_reason(text: str, why: str) -> None:
    read = sarif_annotations(text, "lint", TREE)
    assert isinstance(read, Unreadable)
    assert why in english(read.reason)


def test_no_more_are_read_than_asked_for_and_each_once() -> None:
    many = [result(message={"text": str(number)}) for number in range(50)]
    read = sarif_annotations(log(*many, *many), "lint", TREE, 20)
    assert isinstance(read, tuple)
    assert len(read) == 20
    assert len(found(log(result(), result()))) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("runs", "results", "locations", "physicalLocation", "artifactLocation", "uri", "region"))
            | st.sampled_from(
                ("startLine", "message", "text", "rule", "tool", "driver", "rules", "index", "suppressions")
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@given(JSON)
def test_any_json_gives_valid_annotations_or_a_reason(value: Any) -> None:
    for text in (
        json.dumps(value),
        json.dumps({"version": "2.1.0", "runs": [{"results": [value, result(rule=value)]}]}),
    ):
        read = sarif_annotations(text, "lint", TREE)
        for note in read if isinstance(read, tuple) else ():
            assert 1 <= note.start_line <= note.end_line
            assert not note.path.startswith("/")
