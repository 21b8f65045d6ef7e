"""Agents: the task that they get, the change that they propose, and what was applied of it."""

from __future__ import annotations

from bot.model.base import CamelModel, Model
from bot.model.pipeline import Validation
from bot.model.reasons import Reason


class Change(CamelModel):
    """One file's change from an agent (REQ-RUN-003): the diff first, then the fallback, then plain content."""

    path: str
    patch: str | None = None
    fallback_content: str | None = None
    content: str | None = None


class Applied(Model):
    """The result of `apply_changes`: the paths that it wrote, and those for which it used the fallback."""

    paths: tuple[str, ...]
    fallbacks: tuple[str, ...] = ()


class StyleFindings(Model):
    """Files with findings of the project's own lint or format check; relative paths, each once."""

    lint: tuple[str, ...] = ()
    unformatted: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The files of both checks."""
        return tuple(dict.fromkeys((*self.lint, *self.unformatted)))


class AgentTask(Model):
    """The task of an agent (REQ-RUN-008). `focus` names the files that the task is about; empty means any."""

    run_id: str
    attempt: int
    max_attempts: int
    task: str
    focus: tuple[str, ...] = ()
    previous: tuple[Validation, ...] = ()
    baseline: Validation | None = None
    guidance: tuple[str, ...] = ()
    failed_patches: tuple[str, ...] = ()
    style: StyleFindings = StyleFindings()
    """What mechanical fixers may work on (`rules.patches.style_findings`)."""
    fingerprints: tuple[str, ...] = ()
    """The failures to fix, as `rules.failures.errors` names them."""
    only_test: bool = False
    """A test that fails because of the fault is wanted, and no fix yet."""
    candidate: int = 1
    candidates: int = 1
    """How many changes are asked for in the same attempt, and which of them this is."""
    failing_tests: tuple[str, ...] = ()
    """Tests that were written first and show the fault."""


class Usage(CamelModel):
    """The tokens that an agent's model read and wrote, and their price in US dollars where the program names it."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    def __add__(self, other: Usage) -> Usage:
        costs = [each for each in (self.cost_usd, other.cost_usd) if each is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=round(sum(costs), 6) if costs else None,
        )


class Proposal(Model):
    """A change that an agent proposes: changes to apply, or edits that it already made in the working tree.

    With `offered` false there is no change, for the reason `because`; this costs no attempt. `note` is kept with the
    attempt. `replays` is the diff hash of the known resolution that the change repeats. If the change does not help,
    that resolution is a dead end too."""

    agent: str
    offered: bool
    changes: tuple[Change, ...] = ()
    edited_in_place: bool = False
    because: Reason | None = None
    note: Reason | None = None
    tools: tuple[str, ...] = ()
    replays: str | None = None
    usage: Usage | None = None
    untouched: bool = False
    """The agent did not edit the working tree, so nothing needs to be restored."""
