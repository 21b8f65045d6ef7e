"""A histogram of durations, as Prometheus has them: counts by upper bound, and their sum."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


class Histogram:
    """Counts durations in seconds. One thread adds; any thread may read."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self.total = 0.0
        """The sum of all durations."""

    def add(self, seconds: float) -> None:
        """Count one duration."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """How many durations were at most each bound; the last bound is `+Inf`."""
        counts, below, buckets = list(self._counts), 0, []
        for bound, count in zip((*map(str, self._bounds), "+Inf"), counts, strict=True):
            below += count
            buckets.append((bound, float(below)))
        return buckets
