"""A model without a key or of an unknown provider is a problem, before a run depends on it."""

from __future__ import annotations

import pytest

from bot.app.doctor_models import examine_model
from bot.reports.locale.reasons import english

KEY = "sk-doctor-0123456789abcdef"


def test_a_model_with_a_key_is_fine_and_the_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = examine_model("llm:openai:gpt-5")
    assert found.status == "ok"
    assert KEY not in found.model_dump_json()


@pytest.mark.parametrize(("model", "named"), [("openai:gpt-5", "OPENAI_API_KEY"), ("nobody:gpt-5", "nobody")])
def test_a_model_that_cannot_be_asked_is_a_problem(model: str, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = examine_model(f"llm:{model}")
    assert found.status == "problem" and found.remedy is not None
    assert named in english(found.message)
