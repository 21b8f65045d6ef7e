"""The agent that is a language model: it gets the task and the files that the planner found, and answers with changes.

It is called from the bot's process, never from the sandbox. Texts that anybody may have written are marked as data."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.agent.model_client import ModelAnswer, ModelClient, ModelProblem, prompt_file
from bot.agent.protocol import INSTRUCTION_FILES, candidate_note, describe_task, name_instructions
from bot.model import AgentTask, Change, Proposal
from bot.model.agents import NO_MODEL, Usage
from bot.model.base import CamelModel
from bot.model.reasons import Reason
from bot.rules.reasons import all_reasons, make_reason

_MAX_PATHS = 400


class ProposedChanges(CamelModel):
    """The changes that solve the task, or else the paths of further files that must be seen first."""

    changes: tuple[Change, ...] = ()
    needed_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskFiles:
    """The texts of the files that a task is about, and the paths of all files."""

    texts: Mapping[str, str]
    paths: Sequence[str]


ReadFiles = Callable[[AgentTask, Path, Sequence[str]], Awaitable[TaskFiles]]
"""Reads the files of a task; those that are named come first."""


@dataclass(frozen=True, slots=True)
class ModelAgent:
    """Proposes what the model answers. It may ask once for further files. A change that would replace a file that the
    model has not seen is dropped."""

    client: ModelClient
    read: ReadFiles

    @property
    def name(self) -> str:
        return f"llm:{self.client.model}"

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        files, used = await self.read(task, tree, ()), NO_MODEL
        try:
            answer = await self._ask(task, files)
            used = answer.usage
            if answer.value.needed_files and not answer.value.changes:
                files = await self.read(task, tree, answer.value.needed_files)
                answer = await self._ask(task, files)
                used += answer.usage
        except ModelProblem as problem:
            nothing = self._nothing(problem.reason, used + problem.usage)
            return nothing.model_copy(update={"over_budget": problem.over_budget})
        seen, note = self._seen(files), _in_words(used)
        unseen = [one.path for one in answer.value.changes if _replaces_unseen(one, files, seen)]
        changes = tuple(one for one in answer.value.changes if one.path not in unseen)
        if not changes:
            return self._nothing(note if not unseen else _dropped(unseen), used)
        note = all_reasons([note, _dropped(unseen)]) if unseen else note
        return Proposal(agent=self.name, offered=True, changes=changes, note=note, usage=used)

    async def _ask(self, task: AgentTask, files: TaskFiles) -> ModelAnswer[ProposedChanges]:
        nonce = secrets.token_hex(8)
        prompt = prompt_file("test_writer" if task.only_test else "developer").replace("{nonce}", nonce)
        seen = self._seen(files)
        named = name_instructions([name for name in INSTRUCTION_FILES if name in seen])
        prompt = "\n".join(part for part in (prompt, named, candidate_note(task)) if part)
        data = _data(task, files, seen, nonce)
        return await self.client.ask(task.run_id, ProposedChanges, prompt, data)

    def _seen(self, files: TaskFiles) -> Mapping[str, str]:
        """The files that are sent: a masked one would come back with its mask in place of the secret."""
        return {path: text for path, text in files.texts.items() if self.client.mask(text) == text}

    def _nothing(self, because: Reason, usage: Usage) -> Proposal:
        return Proposal(agent=self.name, offered=False, because=because, untouched=True, usage=usage)


def _replaces_unseen(change: Change, files: TaskFiles, seen: Mapping[str, str]) -> bool:
    return change.path in files.paths and change.path not in seen


def _dropped(paths: Sequence[str]) -> Reason:
    return make_reason("model.unseen", paths=", ".join(paths[:5]))


def _in_words(used: Usage) -> Reason:
    if used.cost_usd is None or used.partial_cost:
        return make_reason("model.used", tokens=f"{used.tokens or 0:,}")
    return make_reason("model.used.cost", tokens=f"{used.tokens or 0:,}", cost=f"{used.cost_usd:.4f}")


def _data(task: AgentTask, files: TaskFiles, seen: Mapping[str, str], nonce: str) -> str:
    """The prompt: everything in it is data between two lines that its writers could not know."""
    paths = "\n".join(files.paths[:_MAX_PATHS])
    parts = [
        describe_task(task),
        f"## Repository files\n{paths}\n",
        *(f"## Content of {path}\n{text}\n" for path, text in seen.items()),
    ]
    return f"<<<DATA {nonce}\n" + "\n".join(parts) + f"\nDATA {nonce}>>>\n"
