"""The benchmark of locations measures what it says, on one round."""

from __future__ import annotations

from benchmarks import locations


def test_recall_and_precision_meet_their_goals_and_the_reference_does_not() -> None:
    rows = {row.what: row for row in locations.measure(locations.Size(rounds=1)).rows}
    assert rows["recall"].met
    assert rows["precision"].met
    assert rows["`path:line:column`: recall"].value < rows["recall"].value
    assert all(row.value > 0 for row in rows.values())
