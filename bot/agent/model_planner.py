"""Asks a language model for what rules cannot know of a plan: an approach, risks, and files with reasons (REQ-RUN-002).

Its words are added to the artifacts under the key `model`, apart from what the rules found. No agent gets them, since
anybody may have written the texts that they come from."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.agent.model_client import ModelClient, ModelProblem, prompt_file
from bot.agent.protocol import describe_task
from bot.logs import get_logger
from bot.model import AgentTask, Usage
from bot.model.base import CamelModel
from bot.model.reasons import Reason
from bot.reports.format.truncate import cut_middle, one_line
from bot.reports.locale.reasons import english

MAX_ITEMS = 12
MAX_APPROACH_CHARS = 2_000
MAX_ITEM_CHARS = 300
_MAX_PATHS = 400
_MAX_PLAN_CHARS = 20_000
_MAX_FILE_CHARS = 12_000
_MAX_ALL_CHARS = 60_000

log = get_logger()


class FileReason(CamelModel):
    path: str
    reason: str


class PlanNotes(CamelModel):
    """What the model adds to the three artifacts."""

    approach: str = ""
    risks: tuple[str, ...] = ()
    files: tuple[FileReason, ...] = ()
    steps: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanMaterial:
    """What the plan is made of: the task, the artifacts of the rules, the files' texts, and the paths of all files."""

    task: AgentTask
    artifacts: Mapping[str, Mapping[str, Any]]
    texts: Mapping[str, str]
    paths: Sequence[str]


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """The model's notes, or why there are none; and what it used."""

    model: str
    usage: Usage
    notes: PlanNotes | None = None
    problem: Reason | None = None

    def additions(self) -> Mapping[str, Mapping[str, Any]]:
        """What each artifact holds under `model`, by its phase; without an answer the plan names the reason."""
        notes, name = self.notes, {"name": self.model}
        if notes is None:
            return {"planning": {**name, "problem": english(self.problem) if self.problem else ""}}
        data = notes.model_dump(mode="json", by_alias=True)
        return {
            "planning": {**name, "approach": data["approach"], "risks": data["risks"]},
            "architecture": {**name, "files": data["files"]},
            "design": {**name, "steps": data["steps"], "tests": data["tests"]},
        }


async def ask_for_plan(client: ModelClient, run_id: str, material: PlanMaterial) -> ModelPlan:
    """The model's notes within limits, without paths that the repository lacks; or why there are none."""
    nonce = secrets.token_hex(8)
    prompt = prompt_file("planner").replace("{nonce}", nonce)
    try:
        answer = await client.ask(run_id, PlanNotes, prompt, _data(material, nonce, client.mask))
    except ModelProblem as problem:
        log.warning("planning_failed", run=run_id, because=str(problem))
        return ModelPlan(client.model, problem.usage, problem=problem.reason.map_text(client.mask))
    return ModelPlan(client.model, answer.usage, _bounded(answer.value, set(material.paths), client.mask))


def _data(material: PlanMaterial, nonce: str, mask: Callable[[str], str]) -> str:
    """The prompt: everything in it is data between two lines that its writers could not know."""
    paths = "\n".join(material.paths[:_MAX_PATHS])
    made = cut_middle(json.dumps(material.artifacts, ensure_ascii=False, default=str), _MAX_PLAN_CHARS)
    parts = [describe_task(material.task), f"## Plan by rules\n{made}\n", f"## Repository files\n{paths}\n"]
    left = _MAX_ALL_CHARS
    for path, text in material.texts.items():
        if mask(text) != text or left < MAX_ITEM_CHARS:
            continue  # a file with a secret is not sent
        shown = cut_middle(text, min(_MAX_FILE_CHARS, left))
        parts.append(f"## Content of {path}\n{shown}\n")
        left -= len(shown)
    return f"<<<DATA {nonce}\n" + "\n".join(parts) + f"\nDATA {nonce}>>>\n"


def _bounded(notes: PlanNotes, known: set[str], mask: Callable[[str], str]) -> PlanNotes:
    def short(items: Sequence[str]) -> tuple[str, ...]:
        lines = (one_line(mask(item), MAX_ITEM_CHARS) for item in items[:MAX_ITEMS])
        return tuple(line for line in lines if line)

    files = [file for file in notes.files if file.path in known][:MAX_ITEMS]
    return PlanNotes(
        approach=cut_middle(mask(notes.approach).strip(), MAX_APPROACH_CHARS),
        risks=short(notes.risks),
        files=tuple(FileReason(path=file.path, reason=one_line(mask(file.reason), MAX_ITEM_CHARS)) for file in files),
        steps=short(notes.steps),
        tests=short(notes.tests),
    )
