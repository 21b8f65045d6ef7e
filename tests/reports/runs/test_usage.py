"""What agents used, in words: what is unknown is called so."""

from __future__ import annotations

import pytest

from bot.model import Usage
from bot.model.agents import NO_MODEL
from bot.reports.runs.usage import dollars, usage_words

KNOWN = Usage(duration_ms=42_000, input_tokens=12_000, output_tokens=345, cost_usd=0.123)
UNPRICED = Usage(input_tokens=12_000, output_tokens=345)
UNKNOWN = Usage(duration_ms=3_000)


@pytest.mark.parametrize(
    ("usage", "text"),
    [
        (KNOWN, "Agents: 42 s, 12,345 tokens, $0.12"),
        (UNPRICED, "Agents: 12,345 tokens, cost unknown"),
        (Usage(cost_usd=0.5), "Agents: tokens unknown, $0.50"),
        (UNKNOWN, "Agents: 3.0 s, tokens and cost unknown"),
        (KNOWN + UNKNOWN, "Agents: 45 s, at least 12,345 tokens, at least $0.12"),
        (KNOWN + UNPRICED, "Agents: 42 s, 24,690 tokens, at least $0.12"),
        (KNOWN + NO_MODEL, "Agents: 42 s, 12,345 tokens, $0.12"),
        (UNKNOWN + NO_MODEL, "Agents: 3.0 s, tokens and cost unknown"),
        (NO_MODEL + NO_MODEL, ""),
    ],
)
def test_time_tokens_and_cost_are_named_and_what_is_unknown_is_no_0(usage: Usage, text: str) -> None:
    """REQ-RUN-008."""
    assert usage_words(usage, "en") == text


def test_small_amounts_are_not_rounded_to_nothing() -> None:
    assert [dollars(cost) for cost in (0.0042, 0.123, 12)] == ["0.0042", "0.12", "12.00"]
