"""The buckets of a histogram, as Prometheus has them."""

from __future__ import annotations

from bot.model.histogram import Histogram


def test_a_bucket_counts_all_durations_up_to_its_bound() -> None:
    histogram = Histogram((0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 7.0):
        histogram.add(seconds)
    assert histogram.buckets() == [("0.1", 2.0), ("1.0", 3.0), ("+Inf", 4.0)]
    assert histogram.total == 7.65
