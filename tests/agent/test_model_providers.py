"""What is missing to ask a model is named before a run starts, as the library itself would see it."""

from __future__ import annotations

from contextlib import suppress

import pytest
from pydantic_ai.models import infer_model
from pydantic_ai.providers import infer_provider_class

from bot.agent import model_providers
from bot.agent.model_providers import OTHERS, PROVIDERS, model_problem
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_needs_its_variable_and_nothing_else(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """REQ-RUN-008."""
    model = f"{provider}:openai/gpt-5" if provider == "openrouter" else f"{provider}:a-model"
    for name in {name for names in PROVIDERS.values() for name in names}:
        monkeypatch.delenv(name, raising=False)
    problem = model_problem(f"llm:{provider}:a-model", {})
    assert problem is not None and problem.kind == "model.no_key"
    assert all(name in english(problem) for name in PROVIDERS[provider])
    with pytest.raises(Exception, match=PROVIDERS[provider][0]):
        infer_model(model)
    for name in PROVIDERS[provider]:
        value = "http://127.0.0.1:1/v1" if name.endswith("URL") else "a-key-0123456789"
        assert model_problem(f"llm:{provider}:a-model", {name: value}) is None
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            infer_model(model)


@pytest.mark.parametrize("provider", OTHERS)
def test_a_provider_with_a_package_of_its_own_is_left_to_the_library(provider: str) -> None:
    assert model_problem(f"llm:{provider}:a-model", {}) is None
    with suppress(ImportError):  # its package is not installed here; an unknown name is a ValueError
        infer_provider_class(provider)


def kind(problem: Reason | None) -> str:
    assert problem is not None
    return problem.kind


def test_an_unknown_provider_is_named_with_the_nearest() -> None:
    """REQ-RUN-008."""
    assert kind(model_problem("llm:anthropc:a-model", {})) == "model.misspelt_provider"
    assert "did you mean `anthropic`" in english(model_problem("llm:anthropc:a-model", {}))
    assert kind(model_problem("llm:zzzzzz:a-model", {})) == "model.no_provider"


def test_without_the_extra_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """REQ-RUN-008."""
    monkeypatch.setattr(model_providers, "find_spec", lambda _: None)
    assert "pip install '.[llm]'" in english(model_problem("llm:openai:gpt-5", {"OPENAI_API_KEY": "x"}))
