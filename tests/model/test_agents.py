"""The sum of what agents used: a sum with something unknown is a lower bound."""

from __future__ import annotations

from bot.model import Usage
from bot.model.agents import NO_MODEL, total_usage

PRICED = Usage(duration_ms=1, input_tokens=10, output_tokens=1, cost_usd=0.1)
UNPRICED = Usage(duration_ms=2, input_tokens=20, output_tokens=2)
UNKNOWN = Usage(duration_ms=4)


def test_a_sum_says_whether_it_is_whole() -> None:
    """REQ-RUN-008."""
    assert total_usage([PRICED, PRICED]) == Usage(duration_ms=2, input_tokens=20, output_tokens=2, cost_usd=0.2)
    assert total_usage([PRICED, UNPRICED, NO_MODEL]) == Usage(
        duration_ms=3, input_tokens=30, output_tokens=3, cost_usd=0.1, partial_cost=True
    )
    assert total_usage([UNKNOWN, UNPRICED, NO_MODEL]) == Usage(
        duration_ms=6, input_tokens=20, output_tokens=2, partial_tokens=True
    )


def test_nothing_beside_something_unknown_is_unknown() -> None:
    """REQ-RUN-008."""
    assert NO_MODEL + UNKNOWN == UNKNOWN
    assert (NO_MODEL.used_no_model, UNKNOWN.used_no_model) == (True, False)
    assert total_usage([]) is None
