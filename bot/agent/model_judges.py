"""Small questions to a language model: whether an attempt made progress, and why a command failed.

Both have a rule of their own that decides where the model does not answer."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from pydantic import BaseModel

from bot.agent.model_client import ModelClient, ModelProblem, prompt_file
from bot.logs import get_logger
from bot.model import Classification, Usage, ValidationStep
from bot.reports.format.truncate import cut_middle

_MAX_CHARS = 12_000

log = get_logger()


class ProgressVerdict(BaseModel):
    progress: bool


class FailureKind(BaseModel):
    classification: Classification


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A judge for `JudgeProgressDetector`, which uses the simple rule where this raises ModelProblem (REQ-STOP-003).

    `run_id` is what its tokens count for."""

    client: ModelClient
    run_id: str

    async def __call__(self, previous: str, current: str) -> bool:
        data, prompt = _prompt("judge", previous, current)
        return (await self.client.ask(self.run_id, ProgressVerdict, prompt, data)).value.progress


async def classify_step(client: ModelClient, run_id: str, step: ValidationStep) -> tuple[Classification | None, Usage]:
    """Why the step failed according to the model (REQ-RUN-005), None where it does not answer; and what that used."""
    data, prompt = _prompt("classify", f"{step.command}\nexit code {step.exit_code}\n{step.output}")
    try:
        answer = await client.ask(run_id, FailureKind, prompt, data)
    except ModelProblem as problem:
        log.warning("classification_failed", run=run_id, because=str(problem))
        return None, problem.usage
    return answer.value.classification, answer.usage


def _prompt(name: str, *texts: str) -> tuple[str, str]:
    """The texts as data between marks that they cannot contain, and the instructions that name the marks."""
    nonce = secrets.token_hex(8)
    data = "".join(f"<<<DATA {nonce}\n{cut_middle(text, _MAX_CHARS)}\nDATA {nonce}>>>\n" for text in texts)
    return data, prompt_file(name).replace("{nonce}", nonce)
