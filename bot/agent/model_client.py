"""Asks a language model for one structured answer, within limits of tokens, money, time and tries.

pydantic-ai, the extra `llm`, is imported with the first question: `serve` stays small without it."""

from __future__ import annotations

import asyncio
import random
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from bot.agent.model_budget import ModelBudget, Remaining
from bot.model.agents import NO_MODEL, Usage
from bot.model.reasons import Reason
from bot.reports.format.truncate import one_line
from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason

if TYPE_CHECKING:
    from pydantic_ai import RunUsage

MAX_ANSWER_TOKENS = 16_000
MAX_TRIES = 3
MAX_WAIT_S = 30.0
_OUTPUT_RETRIES = 2
_TIMEOUT_S = 300.0
_CHARS_PER_TOKEN = 3
"""Of code, rather too few: the estimate only keeps a prompt from being sent that no limit would allow."""
_MAX_ERROR = 300

T = TypeVar("T", bound=BaseModel)


class ModelProblem(Exception):
    """Why a model gave no answer that can be used, and what it used all the same."""

    def __init__(self, reason: Reason, usage: Usage = NO_MODEL, *, over_budget: bool = False) -> None:
        super().__init__(english(reason))
        self.reason = reason
        self.usage = usage
        self.over_budget = over_budget


@dataclass(frozen=True, slots=True)
class ModelAnswer(Generic[T]):
    """The answer, and what it used; its cost is None where the model's price is unknown."""

    value: T
    usage: Usage


@dataclass(frozen=True, slots=True)
class ModelClient:
    """A model by its name, such as `openai:gpt-5`; its provider's own variables hold the key and the address."""

    model: str
    budget: ModelBudget
    mask: Callable[[str], str]
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def ask(self, run_id: str, kind: type[T], instructions: str, prompt: str) -> ModelAnswer[T]:
        """The model's answer of that kind. Secrets in both texts are masked before they are sent.

        Raises ModelProblem for a limit that was reached, a refusal, and a model that cannot be asked."""
        instructions, prompt = (_encodable(self.mask(text)) for text in (instructions, prompt))
        remaining = await self.budget.remaining(run_id)
        if isinstance(remaining, Reason):
            raise ModelProblem(remaining, over_budget=True)
        needed = (len(instructions) + len(prompt)) // _CHARS_PER_TOKEN
        if needed >= remaining.tokens:
            reason = make_reason("model.too_long", tokens=f"{needed:,}", left=f"{remaining.tokens:,}")
            raise ModelProblem(reason, over_budget=True)
        uses: list[Usage] = []
        for number in range(1, MAX_TRIES + 1):
            try:
                value = await self._call(kind, (instructions, prompt), remaining, uses)
                return ModelAnswer(value, sum(uses, NO_MODEL))
            except Exception as error:
                wait = _wait_s(error, number)
                if wait is None:
                    raise ModelProblem(self._reason(error), sum(uses, NO_MODEL)) from error
            await self.sleep(wait)
        raise AssertionError("the last try has no wait")

    async def _call(self, kind: type[T], texts: tuple[str, str], remaining: Remaining, uses: list[Usage]) -> T:
        """The value of the model's answer; what the call used is added to `uses`, however it ends."""
        from pydantic_ai import Agent, RunUsage, UsageLimits

        usage = RunUsage()
        limits = UsageLimits(
            request_limit=1 + _OUTPUT_RETRIES, total_tokens_limit=remaining.tokens, cost_limit=Decimal(remaining.cost)
        )
        settings: Any = {
            "max_tokens": min(MAX_ANSWER_TOKENS, remaining.tokens),
            "timeout": _TIMEOUT_S,
            "max_retries": 0,  # tries are counted here
        }
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of models without a known price: their tokens are counted
                asked = Agent(self.model, output_type=kind, instructions=texts[0], retries=_OUTPUT_RETRIES)
                result = await asked.run(texts[1], usage=usage, usage_limits=limits, model_settings=settings)
        finally:
            if usage.total_tokens:
                uses.append(_usage(usage))
                self.budget.add(uses[-1])
        return result.output

    def _reason(self, error: Exception) -> Reason:
        """Why it failed, in our words as far as the kind of error is known; the provider's text is masked."""
        if isinstance(error, ImportError):
            return make_reason("model.not_installed", model=self.model)
        from pydantic_ai import exceptions

        text = one_line(self.mask(str(error)), _MAX_ERROR)
        if isinstance(error, exceptions.ModelHTTPError) and error.status_code == 404:
            return make_reason("model.no_model", model=self.model, error=text)
        for kinds, name in (
            ((exceptions.OutputTokenLimitExceeded, exceptions.IncompleteToolCall), "cut_off"),
            ((exceptions.ContentFilterError,), "refused"),
            ((exceptions.UsageLimitExceeded,), "limit"),
            ((exceptions.UnexpectedModelBehavior,), "unreadable"),
            ((exceptions.ModelAuthenticationError,), "key"),
            ((exceptions.UserError,), "unknown"),
            ((exceptions.ModelAPIError,), "failed"),
        ):
            if isinstance(error, kinds):
                return make_reason(f"model.{name}", model=self.model, error=text)
        return make_reason("model.failed", model=self.model, error=text)


def _usage(usage: RunUsage) -> Usage:
    cost = None if usage.cost is None else round(float(usage.cost), 6)
    return Usage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cost_usd=cost)


def _encodable(text: str) -> str:
    """The text without lone surrogates, which logs may hold and UTF-8 may not."""
    return text.encode("utf-8", "replace").decode()


def _wait_s(error: Exception, number: int) -> float | None:
    """How long to wait before the next try; None where there is none, or it would not help."""
    if isinstance(error, ImportError) or number >= MAX_TRIES:
        return None
    from pydantic_ai import exceptions

    passing = (
        exceptions.ModelRateLimitError,
        exceptions.ModelUnavailableError,
        exceptions.ModelServerError,
        exceptions.ModelConnectionError,
    )
    if not isinstance(error, passing):
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= MAX_WAIT_S else None
    return 2.0**number * random.uniform(0.5, 1)  # noqa: S311  # so that several runs do not ask again at once


@cache
def prompt_file(name: str) -> str:
    """The text of a file in `bot/agent/prompts/`."""
    return (files("bot.agent") / "prompts" / f"{name}.md").read_text(encoding="utf-8")
