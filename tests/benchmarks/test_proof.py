"""The cases of the benchmark of proof are what they say they are, and their outcomes are counted rightly."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import proof
from benchmarks.proof_case import FOLDER, Case, Change, halved, is_test_side, program_cases, read_case
from benchmarks.proof_derived import derived
from benchmarks.proof_session import AGENT, Level, Outcome, own_bot, run
from benchmarks.proof_suite import Suite, problems, write


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A directory of programs without any: node comes with Mendbot."""
    (tmp_path / "tools" / "bin").mkdir(parents=True)
    return tmp_path / "tools"


def _case(name: str) -> Case:
    return read_case(FOLDER / f"{name}.toml")


def _changes(case: Case, kind: str) -> Change:
    return next(change for change in case.changes if change.kind == kind)


def test_each_case_has_one_right_change_and_three_wrong_ones() -> None:
    cases = program_cases()
    assert len(cases) >= 40
    for case in cases:
        assert sum(change.right for change in case.changes) == 1, case.name
        assert sum(not change.right for change in case.changes) >= 3, case.name
        assert max(Counter(change.kind for change in case.changes).values()) == 1, case.name
    right = [change for case in cases for change in case.changes if change.right]
    assert sum(not change.tests for change in right if change.kind != "right") <= len(right) / 10


def test_the_halves_are_of_one_size_and_hold_both_languages() -> None:
    halves = halved(program_cases())
    assert abs(Counter(case.half for case in halves)["a"] - len(halves) / 2) <= 1
    assert len({(case.half, case.language) for case in halves}) == 4


def test_an_edit_of_a_text_that_is_not_there_is_refused(tmp_path: Path) -> None:
    text = (FOLDER / "slugs.toml").read_text().replace('["slugs.py", ', '["other.py", ')
    (tmp_path / "slugs.toml").write_text(text)
    with pytest.raises(ValueError, match=r"slugs, right: other\.py has 0 times"):
        read_case(tmp_path / "slugs.toml")


def test_labels_are_checked_by_the_hidden_tests(tools: Path) -> None:
    case, suite = _case("chunk-js"), Suite(tools)
    assert problems(case, suite) == []
    right, *wrong = case.changes
    mixed = replace(case, changes=(Change("comment", right.files), Change("right", wrong[0].files)))
    assert problems(mixed, suite) == [
        "comment: the hidden tests pass with it",
        "comment: a test shows it",
        "right: the hidden tests fail with it",
        "right: a test does not show it",
    ]


def test_derived_changes_hold_the_base_as_it_is_but_for_a_comment() -> None:
    case = _case("lru-cache")
    made = {change.kind: change for change in derived(case, limit=20)}
    assert len(made) == 8
    for change in made.values():
        text = change.files["lru.py"] or ""
        code = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        assert code == case.files["lru.py"].splitlines()
    assert "mark.skip" in (made["skipped test"].files["tests/test_lru.py"] or "")
    assert "except Exception" in (made["caught assertion"].files["tests/test_lru.py"] or "")


def test_the_agent_makes_the_tests_alone_where_these_are_asked_for(tmp_path: Path) -> None:
    right, tree = _changes(_case("chunk-js"), "right"), tmp_path / "tree"
    write(tmp_path / "agent" / "files", {path: text for path, text in right.files.items() if text is not None})
    (tmp_path / "agent" / "deleted.json").write_text("[]")
    (tmp_path / "agent" / "tests.json").write_text(json.dumps([path for path in right.files if is_test_side(path)]))
    tree.mkdir()
    for brief, names in (
        ("Write a test that fails because of it", {"chunk.test.js"}),
        ("Fix it", {"chunk.js", "chunk.test.js"}),
    ):
        argv = [sys.executable, str(AGENT), str(tmp_path / "agent")]
        subprocess.run(argv, input=brief, text=True, cwd=tree, check=True)
        assert {path.name for path in tree.rglob("*.js")} == names


def test_a_right_change_is_proven_and_a_wrong_one_is_not(tmp_path: Path, tools: Path) -> None:
    case = _case("chunk-js")
    for kind, levels in (("right", {"proven"}), ("nothing", {"covered", "unproven"})):
        change = _changes(case, kind)
        outcome = run(case, change, bot=own_bot(), home=tmp_path / "home", tools=tools)
        assert (outcome.level in levels, outcome.passed) == (True, True), outcome.because


def test_the_agent_is_asked_in_words_that_it_knows() -> None:
    from bot.agent.protocol import build_prompt
    from bot.model.agents import AgentTask

    asked = build_prompt(AgentTask(run_id="r", attempt=1, max_attempts=3, task="x", only_test=True))
    assert "Write a test that fails because of it" in asked


def test_claims_are_examined_and_shares_counted(tools: Path) -> None:
    case = _case("chunk-js")
    right, wrong, example, *_ = case.changes
    levels: list[tuple[Change, Level]] = [(right, "proven"), (wrong, "proven"), (example, "covered")]
    outcomes = [Outcome(case, change, level, "", True, 1.0) for change, level in levels]
    rows = {row.what: row for row in proof.report(outcomes, Suite(tools)).rows}
    assert rows["wrong changes held back from proven"].value == 0.5
    assert rows["wrong changes held back from proven"].met is False
    assert rows["right changes held back from proven"].met is True
    assert rows["called proven, and no test fails without the change"].value == 1
    assert rows["wrong changes: covered"].value == 1
    assert Outcome.from_json(case, right, outcomes[0].as_json()) == outcomes[0]
