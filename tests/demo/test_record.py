"""The recording of the demo: every line at its time, in a picture that needs nothing else."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

from demo.record import COLUMNS, END_S, MAX_GAP_S, MIN_GAP_S, PICTURE, ROWS, Line, Recorder, paced, terminal, wrapped

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str]:
    """The rows of the terminal, without its title."""
    return [each.text or "" for each in ElementTree.fromstring(picture).iter(f"{SVG}text")][1:]


def test_a_story_is_remembered_with_its_times() -> None:
    story = Recorder()
    story.step("Begin")
    story.say("  one")
    assert [line.text for line in story.lines] == ["", "Begin", "  one"]
    assert sorted(line.at_s for line in story.lines) == [line.at_s for line in story.lines]


def test_long_waits_are_shortened_and_no_line_comes_at_once() -> None:
    times = [line.at_s for line in paced([Line(5, "a"), Line(5, "b"), Line(5.5, "c"), Line(99, "d")])]
    gaps = [round(later - earlier, 3) for earlier, later in pairwise(times)]
    assert gaps == [MIN_GAP_S, 0.5, MAX_GAP_S]


def test_a_long_line_takes_several_rows_and_is_whole() -> None:
    words = " ".join(f"word{number}" for number in range(60))
    rows = [line.text for line, _ in wrapped([Line(0, f"  {words}")])]
    assert len(rows) > 2 and max(map(len, rows)) <= COLUMNS
    assert " ".join(row.strip() for row in rows) == words


def test_rows_have_the_color_of_what_they_show() -> None:
    lines = [
        "Begin",
        "  ✓ lint",
        "  ✗ test",
        "  - mendbot / fix: neutral",
        "  pull request http://127.0.0.1/1",
        "  plain",
    ]
    assert [color for _, color in wrapped(Line(0, text) for text in lines)] == ["h", "g", "r", "y", "b", ""]


def test_the_picture_shows_each_row_and_ends_on_the_last_screen() -> None:
    picture = terminal([Line(number, f"  line {number} <&>") for number in range(40)], "make demo")
    assert texts(picture) == [f"  line {number} <&>" for number in range(40)]
    last = re.findall(r"@keyframes scroll\{.*translateY\((-\d+)px\)\}\}", picture)
    assert last == [str(-(40 - ROWS) * 18)]
    seconds = float(re.findall(r"scroll (\d+\.\d)s", picture)[0])
    assert seconds == round(39 * min(1, MAX_GAP_S) + END_S, 1)
    assert "prefers-reduced-motion" in picture


def test_the_recording_of_the_documents_is_of_a_run_that_ended_well() -> None:
    picture = Path(PICTURE).read_text(encoding="utf-8")
    assert texts(picture)[0] == "$ make demo"
    assert "@keyframes cover{0.00%{transform:translateY(18px)}" in picture, "the first screen is empty"
    assert texts(picture)[-1].endswith("everything that was promised is there.")
    assert len(picture) < 1 << 20
    assert not re.search(r"(?:href|src|url\()\W*https?:", picture), "it needs another file"
