"""The normal form over real tools' lines: stable on another machine and day, and no two errors in one (REQ-RA-310)."""

from __future__ import annotations

from benchmarks.fingerprints import Size, merging, recorded_lines, stability, telling_lines
from bot.rules.failures.normalize import loose_key
from tests.rules.failures.tool_outputs import TOOLS

SIZE = Size(rounds=1, seed=7)
# every seventh line keeps the test short; the benchmark takes them all
LINES = (*recorded_lines()[::7], *telling_lines(output for output, _ in TOOLS.values()))


def test_there_are_lines_of_many_tools() -> None:
    assert len(LINES) > 100


def test_an_error_keeps_its_text_on_another_machine_and_day() -> None:
    """Performance goal *fingerprints*: at least 99.5 % of the pairs."""
    figures = stability(LINES, SIZE)
    assert figures.pairs > 1000
    assert figures.share <= 0.5, figures.wrong[:5]


def test_two_errors_keep_apart() -> None:
    """Performance goal *fingerprints*: at most 0.5 % of the pairs merged by the exact key."""
    figures = merging(LINES, SIZE)
    assert figures.pairs > 200
    assert figures.share <= 0.5, figures.wrong[:5]


def test_the_measure_tells_a_careless_key_from_a_careful_one() -> None:
    assert stability(LINES, SIZE, key=str.strip).share > 90
    assert merging(LINES, SIZE, key=loose_key).share > 10
    assert merging(LINES, SIZE, key=lambda line: line[:20]).share > 50
