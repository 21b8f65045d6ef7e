"""A model is asked over each provider's wire format, within limits of tries, tokens and money."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from bot.agent.model_budget import ModelBudget, ModelLimits
from bot.agent.model_client import ModelAnswer, ModelClient, ModelProblem, prompt_file
from bot.model import Usage
from bot.model.agents import Spent, SpentSoFar
from tests.agent.model_server import IN, OUT, Answer, ModelServer, model_server

MODELS = ("anthropic:claude-sonnet-4-5", "openai:gpt-5", "openai-chat:gpt-5", "google:gemini-2.5-pro")
KEY = "a-key-of-the-provider-0123456789"
GOOD: dict[str, Any] = {"changes": ["a"]}


class Names(BaseModel):
    changes: tuple[str, ...]


class Desk:
    """A client of a server with a script; `waits` are the pauses between its tries."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.budget = ModelBudget(ModelLimits(10_000, 20_000, 1.0, 1.0))
        self.waits: list[float] = []
        self._patch = monkeypatch

    async def ask(self, server: ModelServer, model: str, prompt: str = "fix it") -> ModelAnswer[Names]:
        for name, value in server.environment(KEY).items():
            self._patch.setenv(name, value)

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        client = ModelClient(model, self.budget, lambda text: text.replace("secret", "***").replace(KEY, "***"), sleep)
        return await client.ask("run-1", Names, "the rules", prompt)

    async def problem(self, server: ModelServer, model: str, prompt: str = "fix it") -> str:
        with pytest.raises(ModelProblem) as caught:
            await self.ask(server, model, prompt)
        return caught.value.reason.kind


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


@pytest.mark.parametrize("model", MODELS)
async def test_each_provider_is_asked_in_its_own_format(desk: Desk, model: str) -> None:
    """REQ-RUN-008: the key goes to the provider, and what the prompt holds of secrets does not."""
    with model_server([GOOD]) as server:
        answer = await desk.ask(server, model, "fix the secret\ud83d")
    (_, headers, body), *more = server.requests
    assert (answer.value, answer.usage.tokens, more) == (Names(changes=("a",)), IN + OUT, [])
    assert answer.usage.cost_usd is not None and 0 < answer.usage.cost_usd < 0.1
    assert KEY in str(headers) and KEY not in str(body)
    assert "the rules" in str(body) and "fix the ***" in str(body)


@pytest.mark.parametrize("model", MODELS)
async def test_a_busy_provider_is_asked_again_when_it_says(desk: Desk, model: str) -> None:
    with model_server([429, 503, GOOD]) as server:
        assert (await desk.ask(server, model)).value.changes == ("a",)
    assert (len(server.requests), desk.waits[0]) == (3, 7)
    assert 2 <= desk.waits[1] <= 4


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("answer", "kind", "requests"),
    [(429, "failed", 3), (401, "key", 1), (400, "failed", 1), ("refusal", "refused", 1), ("cut_off", "cut_off", 1)],
)
async def test_what_does_not_help_is_not_repeated(
    desk: Desk, model: str, answer: Answer, kind: str, requests: int
) -> None:
    with model_server([answer]) as server:
        assert await desk.problem(server, model) == f"model.{kind}"
    assert len(server.requests) == requests


@pytest.mark.parametrize("model", MODELS)
async def test_an_answer_that_cannot_be_read_is_asked_for_anew_twice(desk: Desk, model: str) -> None:
    with model_server(["broken", GOOD]) as server:
        assert (await desk.ask(server, model)).usage.tokens == 2 * (IN + OUT)
    with model_server(["broken"]) as server, pytest.raises(ModelProblem) as caught:
        await desk.ask(server, model)
    assert (caught.value.reason.kind, caught.value.usage.tokens) == ("model.unreadable", 3 * (IN + OUT))
    assert len(server.requests) == 3


async def test_tokens_are_counted_however_a_call_ends_and_limited_by_the_run(desk: Desk) -> None:
    with model_server(["broken"]) as server:
        kinds = [await desk.problem(server, MODELS[1]) for _ in range(4)]
    assert kinds == ["model.unreadable", "model.unreadable", "model.limit", "model.run_tokens"]
    assert len(server.requests) == 9


async def test_a_prompt_that_no_limit_allows_is_not_sent(desk: Desk) -> None:
    with model_server([GOOD]) as server:
        assert await desk.problem(server, MODELS[0], "x" * 40_000) == "model.too_long"
    assert server.requests == []


async def test_the_day_has_a_limit_of_its_own(desk: Desk) -> None:
    async def read(_: str, __: str) -> SpentSoFar:
        return SpentSoFar(day=Spent(tokens=20_000, unpriced_tokens=20_000))

    desk.budget = replace(desk.budget, read=read)
    with model_server([GOOD]) as server:
        assert await desk.problem(server, MODELS[0]) == "model.day_tokens"
    assert server.requests == []


async def test_money_that_is_spent_is_not_spent_again(desk: Desk) -> None:
    desk.budget.add(Usage(input_tokens=1, output_tokens=0, cost_usd=1.0))
    with model_server([GOOD]) as server:
        assert await desk.problem(server, MODELS[0]) == "model.run_cost"
    assert server.requests == []


async def test_a_model_without_a_known_price_is_limited_by_its_tokens(desk: Desk) -> None:
    with model_server([GOOD]) as server:
        answer = await desk.ask(server, "openai-chat:home-made")
    assert (answer.usage.tokens, answer.usage.cost_usd) == (IN + OUT, None)


async def test_an_unknown_provider_is_named(desk: Desk) -> None:
    with model_server([GOOD]) as server:
        assert await desk.problem(server, "nobody:x") == "model.unknown"


async def test_without_the_library_the_remedy_is_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with model_server([GOOD]) as server, pytest.raises(ModelProblem, match=r"pip install '\.\[llm\]'"):
        await desk.ask(server, MODELS[0])


def test_the_prompts_are_files() -> None:
    assert all("{nonce}" in prompt_file(name) for name in ("developer", "test_writer"))
