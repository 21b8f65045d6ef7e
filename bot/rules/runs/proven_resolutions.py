"""What a run may teach: an error that a check showed, and that the same check shows no more while passing, was resolved
by what was changed in between (REQ-RA-311). A pass by luck, or without a change, teaches nothing."""

from __future__ import annotations

from dataclasses import dataclass

from bot.model import ValidationStep

MAX_SHOWN = 500
"""Errors remembered of one run; a check that shows more teaches too little by any one of them."""


@dataclass(frozen=True, slots=True)
class FirstSeen:
    """An error that a stage of the pipeline showed, and the tree in which it did so first."""

    stage: int
    fingerprint: str
    snapshot: str


@dataclass(frozen=True, slots=True)
class ProvenResolution:
    """Errors that the change from one tree to another made go away, proven by `command` passing."""

    stage: str
    command: str
    fingerprints: tuple[str, ...]
    before: str
    after: str
    attempt: int = 0
    agent: str = ""
    tools: tuple[str, ...] = ()


def note(
    shown: tuple[FirstSeen, ...], stage: int, fingerprints: tuple[str, ...], snapshot: str
) -> tuple[FirstSeen, ...]:
    """With these errors, each with the tree that showed it first."""
    known = {(one.stage, one.fingerprint) for one in shown}
    fresh = [FirstSeen(stage, text, snapshot) for text in fingerprints if (stage, text) not in known]
    return (*shown, *fresh)[:MAX_SHOWN]


def derive_resolutions(
    shown: tuple[FirstSeen, ...], stage: int, step: ValidationStep, snapshot: str
) -> tuple[tuple[ProvenResolution, ...], tuple[FirstSeen, ...]]:
    """What a stage that passed on this tree proves, a lesson for each tree that it had failed on, and what is still
    open. One that passed by luck proves nothing, and what it showed before is doubtful from then on."""
    own = [one for one in shown if one.stage == stage]
    others = tuple(one for one in shown if one.stage != stage)
    if step.flaky:
        return (), others
    by_tree: dict[str, list[str]] = {}
    for one in own:
        if one.snapshot != snapshot:
            by_tree.setdefault(one.snapshot, []).append(one.fingerprint)
    learned = tuple(
        ProvenResolution(stage=step.stage, command=step.command, fingerprints=tuple(texts), before=tree, after=snapshot)
        for tree, texts in by_tree.items()
    )
    return learned, others
