"""Examines whether a language model can be asked, without asking it: its provider, its key and the installed client."""

from __future__ import annotations

from bot.agent.model_providers import model_problem
from bot.app.diagnoses import failed, fine
from bot.model.diagnosis import Diagnosis
from bot.repo_config.agents import MODEL_PREFIX
from bot.rules.reasons import make_reason


def examine_model(spec: str) -> Diagnosis:
    """The diagnosis of an agent such as `llm:openai:gpt-5`. No request is sent."""
    missing = model_problem(spec)
    if missing is not None:
        return failed("agents", spec, missing, make_reason("doctor.remedy.model"))
    # imported here, since it takes a second and 50 MB
    from pydantic_ai.models import infer_model

    model, remedy = spec.removeprefix(MODEL_PREFIX), make_reason("doctor.remedy.model")
    try:
        infer_model(model)
    except ImportError:
        return failed("agents", spec, make_reason("model.not_installed", model=model), remedy)
    except Exception as error:  # each provider's client has errors of its own, such as for a missing key
        message = make_reason("model.unknown", model=model, error=" ".join(str(error).split())[:300])
        return failed("agents", spec, message, remedy)
    return fine("agents", spec, make_reason("doctor.model"))
