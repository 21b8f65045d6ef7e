"""The changes that a run made, in order, and whether a change repeats an earlier one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from bot.model.events.runs import ChangesApplied
from bot.model.reasons import Reason

MECHANICAL = frozenset({"fixers"})
"""Agents that do not know the task: they work on findings only."""
HISTORY = "history"
"""The agent that repeats known resolutions."""
FREE = MECHANICAL | {HISTORY}
"""Agents whose turn costs no attempt, as a coding agent is to be asked after them in any case."""


@dataclass(frozen=True, slots=True)
class AttemptChange:
    """A change that an agent made: from one tree to another."""

    attempt: int
    agent: str
    before: str
    after: str
    patch_hash: str
    paths: tuple[str, ...]
    tools: tuple[str, ...]
    replays: str | None = None
    """The diff hash of the known resolution that it repeats."""
    undone: bool = False
    """It was refused or dropped after its checks, so it is no longer in the tree."""
    refusal: Reason | None = None
    """Why it was refused although its checks passed."""
    paths_before: tuple[str, ...] = ()
    """The paths that all changes before it had changed."""

    @classmethod
    def of(cls, event: ChangesApplied, *, before: str, paths_before: tuple[str, ...]) -> AttemptChange:
        return cls(
            attempt=event.iteration,
            agent=event.agent,
            before=before,
            after=event.snapshot,
            patch_hash=event.patch_hash,
            paths=event.paths,
            tools=event.tools,
            replays=event.replays,
            paths_before=paths_before,
        )

    @property
    def mechanical(self) -> bool:
        return self.agent in MECHANICAL

    @property
    def free(self) -> bool:
        return self.agent in FREE


class EarlierUse(Enum):
    """Whether a run made the same change before."""

    NONE = auto()
    UNDONE = auto()
    IN_TREE = auto()
    """The earlier change is still in the tree, as far as its files show: the same lines in another place are another
    change."""


def earlier_use(made: tuple[AttemptChange, ...], patch_hash: str) -> EarlierUse:
    """Whether one of these changes has this hash, and what became of the last of them."""
    last = next((at for at in reversed(range(len(made))) if made[at].patch_hash == patch_hash), None)
    if last is None:
        return EarlierUse.NONE
    overwritten = any(not {*made[last].paths}.isdisjoint(later.paths) for later in made[last + 1 :])
    return EarlierUse.UNDONE if made[last].undone or overwritten else EarlierUse.IN_TREE


def refusal_of(made: tuple[AttemptChange, ...], patch_hash: str) -> Reason | None:
    """Why the last of these changes with this hash was refused; None where it was not."""
    return next((one.refusal for one in reversed(made) if one.patch_hash == patch_hash), None)


def distinct_patch_hash(made: tuple[AttemptChange, ...]) -> str:
    """The hash of the last change; empty where it changes the same lines as an earlier change, in another place."""
    if not made or earlier_use(made[:-1], made[-1].patch_hash) is EarlierUse.IN_TREE:
        return ""
    return made[-1].patch_hash
