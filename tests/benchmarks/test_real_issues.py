"""The benchmark on real reports reads trackers as they are, and sets no goal for what tuned it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import grouping, real_issues
from benchmarks.grouping import Nearest, Reference

REPORTS = """\
Summary,Issue id,Description
Drawer stays locked,12,"It is locked,
since midnight"
Coupons count twice,7,Twenty percent off
Cash drawer locked at midnight,9,It stays locked
Language resets,8,
"""
PAIRS = 'Issue id,Duplicate id\n12,"9, 400"\n9,12\n'


def written(directory: Path) -> Path:
    (directory / "shop").mkdir()
    (directory / "shop/tills.csv").write_text(REPORTS, encoding="utf-8")
    (directory / "shop/tills-combined.csv").write_text(PAIRS, encoding="utf-8")
    (directory / "shop/pairs_alone-combined.csv").write_text(PAIRS, encoding="utf-8")
    return directory


def test_reports_come_in_order_and_duplicates_share_a_fault(tmp_path: Path) -> None:
    (tracker,) = real_issues.trackers(written(tmp_path))
    assert tracker.name == "tills"
    assert [issue.number for issue in tracker.reports.issues] == [7, 8, 9, 12]
    assert tracker.reports.fault == (7, 8, 9, 9)
    assert tracker.reports.issues[3].body == "It is locked,\nsince midnight"


def test_a_tracker_that_tuned_nothing_is_measured_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reference(texts: list[str], top: int, options: object) -> Reference:
        nearest: Nearest = [[(there, 1.0) for there in range(len(texts)) if there != here][:top] for here in range(4)]
        return Reference(nearest, 0.0)

    monkeypatch.setattr(real_issues, "reference", reference)
    result = real_issues.measure(list(real_issues.trackers(written(tmp_path))))
    values = {row.what: row.value for row in result.rows}
    assert values["tills, unseen: recall among the 10 nearest, ours"] == 100
    assert values["tills, unseen: known duplicates among these"] == 1
    assert [row.goal is not None for row in result.rows].count(True) == 1
    assert "tills: 4, of which 2 have known duplicates" in result.notes[0]


def test_the_half_that_tuned_has_no_goal(tmp_path: Path) -> None:
    (tracker,) = real_issues.trackers(written(tmp_path))
    assert [part.unseen for part in tracker.parts] == [True]
    tuned, other = real_issues.Tracker("SeaMonkey_bugs", tracker.reports).parts
    assert (tuned.unseen, other.unseen) == (False, True)
    assert all(tuned.has(fault) != other.has(fault) for fault in range(50))


def test_a_directory_without_reports_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        real_issues.main([str(tmp_path)])
    assert "no reports in" in capsys.readouterr().err


def test_recall_can_be_limited_to_some_issues() -> None:
    (asked, nearest) = grouping.corpus(40, 3), [[] for _ in range(40)]
    assert grouping.recall(nearest, asked, range(5)) == grouping.recall(nearest, asked) == 0.0
