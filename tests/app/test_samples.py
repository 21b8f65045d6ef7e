"""The copies of the sample repository: where they lie, how many stay, and what a full home gives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.app import samples
from bot.app.samples import MAX_COPIES, make_sample, samples_root
from bot.rules.runs.session_request import InvalidRequest
from bot.web.pages.presets import sample_files


async def test_each_copy_is_a_new_directory_of_the_home(tmp_path: Path) -> None:
    """REQ-RUN-009: the presets work on a server that has no workspace root yet."""
    first, second = [Path(await make_sample(tmp_path)) for _ in range(2)]
    assert first != second and first.parent == second.parent == samples_root(tmp_path)
    for name, content in sample_files().items():
        assert (first / name).read_text(encoding="utf-8") == content


async def test_the_oldest_copies_are_deleted(tmp_path: Path) -> None:
    oldest = Path(await make_sample(tmp_path))
    os.utime(oldest, (1, 1))
    for _ in range(MAX_COPIES):
        await make_sample(tmp_path)
    copies = list(samples_root(tmp_path).glob("sample-*"))
    assert len(copies) == MAX_COPIES and oldest not in copies


async def test_nothing_is_deleted_where_the_directory_is_somebody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "MAX_COPIES", 1)
    theirs = samples_root(tmp_path) / "sample-mine"
    theirs.mkdir(parents=True)
    await make_sample(tmp_path)
    assert theirs.is_dir()


async def test_a_directory_that_cannot_be_written_is_a_problem_of_the_field(tmp_path: Path) -> None:
    samples_root(tmp_path).write_text("a file is in the way")
    with pytest.raises(InvalidRequest) as raised:
        await make_sample(tmp_path)
    assert [problem.field for problem in raised.value.problems] == ["repo"]
