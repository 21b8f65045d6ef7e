"""The providers of models and the variables that each needs, so that what is missing is named before a run starts.

The library itself takes a second and 50 MB to ask; a test compares this table with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.util import find_spec

from bot.model.reasons import Reason
from bot.repo_config.agents import MODEL_PREFIX
from bot.rules.reasons import any_of, make_reason

PROVIDERS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai-chat": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openai-responses": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "alibaba": ("ALIBABA_API_KEY", "DASHSCOPE_API_KEY"),
    "cerebras": ("CEREBRAS_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "heroku": ("HEROKU_INFERENCE_KEY",),
    "moonshotai": ("MOONSHOTAI_API_KEY",),
    "nebius": ("NEBIUS_API_KEY",),
    "ollama": ("OLLAMA_BASE_URL",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "ovhcloud": ("OVHCLOUD_API_KEY",),
    "sambanova": ("SAMBANOVA_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
    "vercel": ("VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"),
    "vllm": ("VLLM_BASE_URL",),
    "zai": ("ZAI_API_KEY",),
}
"""Each provider that needs no further package, with the variables of which one must be set."""
OTHERS = (
    "azure", "bedrock", "cohere", "github", "google-cloud", "groq", "huggingface", "litellm", "meta", "mistral",
    "snowflake", "xai",
)  # fmt: skip
"""Providers with packages, variables or log-ins of their own, which only the library knows."""


def model_problem(spec: str, environ: Mapping[str, str] = os.environ) -> Reason | None:
    """Why the agent `llm:PROVIDER:MODEL` cannot be asked, with the remedy; None where nothing is known to be missing.

    Whether the provider has the model is only known to the provider."""
    model = spec.removeprefix(MODEL_PREFIX)
    provider = model.partition(":")[0]
    if find_spec("pydantic_ai") is None:
        return make_reason("model.not_installed", model=model)
    if provider in OTHERS:
        return None
    variables = PROVIDERS.get(provider)
    if variables is None:
        nearest = get_close_matches(provider, (*PROVIDERS, *OTHERS), 1)
        if nearest:
            return make_reason("model.misspelt_provider", provider=provider, nearest=nearest[0])
        return make_reason("model.no_provider", provider=provider, providers=", ".join((*PROVIDERS, *OTHERS)))
    if any(environ.get(name) for name in variables):
        return None
    return make_reason("model.no_key", model=model, variables=any_of(variables))
