"""Words for what agents used: time, tokens and cost. What is unknown is called unknown, and never 0."""

from __future__ import annotations

from bot.model import Language, Usage
from bot.reports.locale.catalog import duration, t


def usage_words(usage: Usage, language: Language) -> str:
    """Returns a line such as `Agents: 42 s, 12,345 tokens, $0.12`; empty if no model was asked."""
    return "" if usage.used_no_model else t(language, "usage", parts=used(usage, language))


def used(usage: Usage, language: Language) -> str:
    """Returns the same without its heading, also where no model was asked: `42 s, 0 tokens, $0.00`."""
    parts = [duration(language, usage.duration_ms)] if usage.duration_ms else []
    return ", ".join([*parts, amount(usage, language)])


def amount(usage: Usage, language: Language) -> str:
    """Returns the tokens and the cost, such as `at least 12,345 tokens, cost unknown`."""
    if usage.tokens is None and usage.cost_usd is None:
        return t(language, "usage.unknown")
    return f"{_tokens(usage, language)}, {_cost(usage, language)}"


def dollars(cost: float) -> str:
    """Returns the figure of a cost: in cents, or in hundredths of a cent below ten cents."""
    return f"{cost:.2f}" if cost >= 0.1 or cost == 0 else f"{cost:.4f}"


def _tokens(usage: Usage, language: Language) -> str:
    if usage.tokens is None:
        return t(language, "usage.tokens.unknown")
    key = "usage.tokens.partial" if usage.partial_tokens else "usage.tokens"
    return t(language, key, tokens=f"{usage.tokens:,}")


def _cost(usage: Usage, language: Language) -> str:
    if usage.cost_usd is None:
        return t(language, "usage.cost.unknown")
    key = "usage.cost.partial" if usage.partial_cost else "usage.cost"
    return t(language, key, cost=dollars(usage.cost_usd))
