"""The benchmark of event streams, with a few viewers."""

from __future__ import annotations

from benchmarks import streams


def test_viewers_also_those_who_come_back_receive_each_event_once() -> None:
    result = streams.measure(streams.Size(viewers=6, events=8, returning=2))
    assert [row.value for row in result.rows[:3]] == [0, 0, 0]
    assert all(row.value > 0 for row in result.rows[3:])


def test_what_is_lost_or_doubled_is_counted() -> None:
    viewers = [streams.Viewer(seen=[(1, 1.0), (3, 1.0)]), streams.Viewer(seen=[(1, 1.0), (2, 1.0), (3, 1.0), (2, 2.0)])]
    result = streams._result(streams.Size(viewers=2, events=3), viewers, {1: 0.0, 2: 0.0, 3: 0.5}, 1.0)
    assert [row.value for row in result.rows[:3]] == [1, 1, 1]
    assert [row.met for row in result.rows[:3]] == [False, False, False]
