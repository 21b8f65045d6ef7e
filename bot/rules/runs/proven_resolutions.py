"""Resolutions that a run proves: where a check showed an error and passes later, the change in between resolved it
(REQ-RA-311). A flaky pass, or a pass without a change, proves nothing."""

from __future__ import annotations

from dataclasses import dataclass

from bot.model import ValidationStep

MAX_SHOWN = 500
"""The limit of errors that are remembered of one run."""


@dataclass(frozen=True, slots=True)
class FirstSeen:
    """An error of a stage of the pipeline, and the first tree with it."""

    stage: int
    fingerprint: str
    snapshot: str


@dataclass(frozen=True, slots=True)
class ProvenResolution:
    """Errors that the change from one tree to another resolved, proven by `command` passing."""

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
    """The errors seen so far together with these, each with the first tree that shows it."""
    known = {(one.stage, one.fingerprint) for one in shown}
    fresh = [FirstSeen(stage, text, snapshot) for text in fingerprints if (stage, text) not in known]
    return (*shown, *fresh)[:MAX_SHOWN]


def derive_resolutions(
    shown: tuple[FirstSeen, ...], stage: int, step: ValidationStep, snapshot: str
) -> tuple[tuple[ProvenResolution, ...], tuple[FirstSeen, ...]]:
    """The resolutions that a passed stage proves, one for each tree on which it had failed, and the errors that are
    still open. A flaky pass proves nothing, and the stage's earlier errors are dropped."""
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
