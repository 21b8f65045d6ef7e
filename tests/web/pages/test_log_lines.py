"""Reading logs of any size in pieces."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from bot.web.pages.log_lines import CHUNK, MAX_FAILING, MAX_LINE_BYTES, Gap, folded, index_log, read_ranges, window


def test_lines_have_the_same_numbers_wherever_pieces_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = [f"{number} ".encode() + b"x" * (number % 97) for number in range(1, 30_000)]
    path.write_bytes(b"\n".join(lines))
    index = index_log(path)
    assert index.line_count == len(lines) and index.size == path.stat().st_size
    for first in (1, 2, 4_500, 29_990):
        for line in read_ranges(path, index, [(first, min(first + 9, len(lines)))]):
            assert isinstance(line, Gap) or line.text == lines[line.number - 1].decode()


@pytest.mark.parametrize(
    ("line", "failing"),
    [("FAILED a.py::b", True), ("error: x", True), ("TypeError: x", True), ("not ok 3", True), ("✗ adds", True),
     ("thread 'main' panicked at", True), ("0 errors", False), ("2 passed, 0 failed", False), ("ok", False),
     ("a mirror", False), ("tests/error_test.py PASSED", False)],
)  # fmt: skip
def test_failing_lines_are_found(tmp_path: Path, line: str, failing: bool) -> None:
    path = tmp_path / "log"
    path.write_text(f"first\n{line}\nlast\n")
    assert index_log(path).failing == ((2,) if failing else ())


def test_a_line_of_a_failure_at_the_edge_of_a_piece_is_found(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * (CHUNK - 8) + b"\nFAILED here\nend")
    assert index_log(path).failing == (2,)


def test_an_endless_line_is_cut_and_the_next_is_found(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a\n" + b"x" * (3 * CHUNK) + b"\nafter\n")
    index = index_log(path)
    assert index.line_count == 3
    lines = read_ranges(path, index, [(1, 3)])
    texts = [line.text for line in lines if not isinstance(line, Gap)]
    assert texts == ["a", "x" * MAX_LINE_BYTES, "after"]


def test_ranges_join_where_they_touch(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("\n".join("FAILED" if number in (500, 505) else "x" for number in range(1, 1001)))
    index = index_log(path)
    assert folded(index) == [(1, 15), (497, 508), (976, 1000)]
    shown = read_ranges(path, index, folded(index))
    assert [part for part in shown if isinstance(part, Gap)] == [Gap(16, 496), Gap(509, 975)]
    assert window(index, 2000) == [(1000, 1000)]


def test_an_empty_log_has_nothing_to_show(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    index = index_log(path)
    assert (index.line_count, folded(index), window(index, 3), read_ranges(path, index, [])) == (0, [], [], [])


def test_a_log_of_200_mb_takes_little_memory(tmp_path: Path) -> None:
    """REQ-RUN-009: as much as a few pieces of it."""
    path = tmp_path / "log"
    piece = (b"some ordinary line of a log that says nothing\n" * 20_000) + b"ERROR: it broke\n"
    with path.open("wb") as file:
        for _ in range(200 * 1024 * 1024 // len(piece) + 1):
            file.write(piece)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    index = index_log(path)
    read_ranges(path, index, folded(index))
    read_ranges(path, index, window(index, index.line_count - 500))
    assert index.size > 200 * 1024 * 1024 and len(index.failing) == MAX_FAILING
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 * 1024
