"""The benchmark of the history page, on a tiny store."""

from __future__ import annotations

from benchmarks import history_page


def test_the_page_is_loaded_with_each_filter() -> None:
    result = history_page.measure(history_page.Size(entries=800, requests=1))
    assert len(result.rows) == 2 * len(history_page.LOADS)
    assert all(row.value > 0 for row in result.rows)
