"""Agents: the task that they get, the change that they propose, and what was applied of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

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
    """The time, the tokens and the US dollars that agents used. None is unknown; it never stands for 0.

    A sum of known and unknown numbers is the sum of the known ones, and `partial_tokens` or `partial_cost` is true."""

    duration_ms: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    partial_tokens: bool = False
    partial_cost: bool = False

    @property
    def tokens(self) -> int | None:
        """All tokens; None if they are unknown."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)

    @property
    def used_no_model(self) -> bool:
        """Whether it is known that no model was asked."""
        return self.tokens == 0 and self.cost_usd == 0

    def __add__(self, other: Usage) -> Usage:
        tokens, cost = _sum(self.tokens, other.tokens), _sum(self.cost_usd, other.cost_usd)
        return Usage(
            duration_ms=self.duration_ms + other.duration_ms,
            input_tokens=_sum(self.input_tokens, other.input_tokens) if tokens is not None else None,
            output_tokens=_sum(self.output_tokens, other.output_tokens) if tokens is not None else None,
            cost_usd=None if cost is None else round(cost, 6),
            partial_tokens=tokens is not None
            and (self.partial_tokens or other.partial_tokens or None in (self.tokens, other.tokens)),
            partial_cost=cost is not None
            and (self.partial_cost or other.partial_cost or None in (self.cost_usd, other.cost_usd)),
        )


_Number = TypeVar("_Number", int, float)


def _sum(one: _Number | None, other: _Number | None) -> _Number | None:
    """The sum of what is known; nothing beside something unknown is unknown."""
    if one is None or other is None:
        return one or other or None
    return one + other


NO_MODEL = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)
"""The usage of an agent that asks no model."""


def total_usage(usages: Iterable[Usage]) -> Usage | None:
    """The sum of all of them; None if there are none."""
    first, *others = (*usages,) or (None,)
    return None if first is None else sum(others, first)


class Spent(Model):
    """What calls used: all tokens, the tokens of calls whose cost is unknown, and the known cost in US dollars."""

    tokens: int = 0
    unpriced_tokens: int = 0
    cost_usd: float = 0.0

    @classmethod
    def of(cls, usage: Usage) -> Spent:
        tokens, cost = usage.tokens or 0, usage.cost_usd
        return cls(tokens=tokens, unpriced_tokens=tokens if cost is None else 0, cost_usd=cost or 0.0)

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            tokens=self.tokens + other.tokens,
            unpriced_tokens=self.unpriced_tokens + other.unpriced_tokens,
            cost_usd=round(self.cost_usd + other.cost_usd, 6),
        )


class SpentSoFar(Model):
    """What a run used in all, and what its repository and all repositories used on one day."""

    run: Spent = Spent()
    place_day: Spent = Spent()
    day: Spent = Spent()


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
    usage: Usage = NO_MODEL
    """Without its duration, which is measured where the agent is asked."""
    over_budget: bool = False
    """The agent was not asked to the end, since a budget is used up."""
    untouched: bool = False
    """The agent did not edit the working tree, so nothing needs to be restored."""
