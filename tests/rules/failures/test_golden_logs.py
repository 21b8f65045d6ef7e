"""The places in the output of real tools: at least 95 % of them are found, and hardly any that aren't there.

`performance.md`, row *locations in tool output*; spec A, Annotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from bot.model import Annotation
from bot.rules.report_files.sarif import sarif_annotations
from tests.rules.failures.golden_logs import TREE, Golden, Place, golden
from tests.rules.failures.read_output import annotations, junit, printed_errors

ALL = tuple(golden())
LOGS = tuple(one for one in ALL if one.suffix == ".log")
REPORTS = tuple(one for one in ALL if one.suffix != ".log")
READERS: dict[str, Callable[..., object]] = {
    ".log": annotations,
    ".xml": junit,
    ".sarif": sarif_annotations,
}


def read(one: Golden) -> tuple[Annotation, ...]:
    found = READERS[one.suffix](one.text, "test", TREE, 100_000)
    assert isinstance(found, tuple), f"{one.name}: {found}"
    return found


def table(logs: Sequence[Golden]) -> tuple[int, int, int, str]:
    """(expected, found of them, found beside them, a line for each log that isn't perfect)."""
    expected = hits = false = 0
    lines = []
    for one in logs:
        found = {(note.path, note.start_line) for note in read(one)}
        missed, wrong = sorted(one.places - found), sorted(found - one.places)
        expected, hits, false = expected + len(one.places), hits + len(one.places & found), false + len(wrong)
        if missed or wrong:
            lines.append(f"{one.name}: of {len(one.places)} missed {missed}, wrong {wrong}")
    return expected, hits, false, "\n".join(lines)


def test_the_set_is_large_enough_to_say_something() -> None:
    assert len({one.name.split("/")[0] for one in ALL}) >= 25
    assert sum(len(one.places) for one in LOGS) >= 400
    assert len({one.suffix for one in ALL}) == 3


@pytest.mark.parametrize("kind", ["logs", "reports"])
def test_nearly_all_places_are_found_and_hardly_any_others(kind: str) -> None:
    expected, hits, false, lines = table(LOGS if kind == "logs" else REPORTS)
    assert hits / expected >= 0.95, lines
    assert hits / (hits + false) >= 0.95, lines


def test_no_widely_used_tool_is_left_out() -> None:
    tools = ("tsc", "eslint", "ruff", "mypy", "pytest", "jest", "vitest", "go", "cargo", "node-test", "pyright", "gcc")
    for tool in tools:
        expected, hits, _, lines = table([one for one in LOGS if one.name.startswith(f"{tool}/")])
        assert hits / expected >= 0.9, lines


def test_levels_are_mostly_those_of_the_tool() -> None:
    known = right = 0
    for one in ALL:
        told = {(note.path, note.start_line, note.level) for note in read(one)}
        rows = {(path, line, level) for path, line, _, level, _ in one.rows if level != "-"}
        known, right = known + len(rows), right + len(rows & told)
    assert right / known >= 0.85


@pytest.mark.parametrize("one", [one for one in LOGS if one.failed], ids=lambda one: one.name)
def test_a_failing_test_is_one_error_by_its_name_in_every_runners_format(one: Golden) -> None:
    """REQ-RA-310."""
    shown = printed_errors(one.text)
    assert sorted(printed.test for printed in shown.values()) == list(one.failed), list(shown)


def test_warnings_are_annotated_as_such_by_the_tools_that_most_people_use() -> None:
    tools = ("eslint", "xo", "mypy", "pyright", "gcc", "clang", "cargo", "oxlint", "biome", "pytest", "shellcheck")
    for one in (log for log in LOGS if log.name.split("/")[0] in tools):
        told = {(note.path, note.start_line): note.level for note in read(one)}
        grades: dict[Place, set[str]] = {}
        for path, line, _, level, _ in one.rows:
            grades.setdefault((path, line), set()).add(level)
        warned = [place for place, levels in grades.items() if levels == {"warning"} and place in told]
        if "failure" in {level for levels in grades.values() for level in levels}:
            assert "failure" not in {told[place] for place in warned}, one.name


def test_every_annotation_has_a_message_and_lines_that_make_sense() -> None:
    for one in ALL:
        for note in read(one):
            assert note.message.strip(), (one.name, note)
            assert 1 <= note.start_line <= note.end_line, (one.name, note)
