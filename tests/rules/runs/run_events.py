"""A run's events, made by hand."""

from __future__ import annotations

from typing import Any

from bot.config import Policy, StopPolicy
from bot.model import Phase, Proof, ValidationStep
from bot.model.proof import ProofLevel, ProofReason
from bot.rules.runs.next_action import next_action
from bot.rules.runs.spec import RunSpec
from tests.rules.runs.played_run import T0, Luck, Story, effect, event, spec

LENIENT = Policy(stop=StopPolicy(no_progress_threshold=99, max_iterations=99))


def wanted(**more: Any) -> RunSpec:
    return spec(**{"policy": LENIENT, "max_attempts": 50, **more})


def checked(story: Story, attempt: int, *errors: str, stage: int = 2, **more: Any) -> None:
    """A validation that fails at `stage` with these errors, or passes without any."""
    phase = Phase.VALIDATION if attempt else Phase.PLANNING
    for index in range(stage + 1 if errors else 3):
        good = not (errors and index == stage)
        known: dict[str, Any] = {"skipped": index == 0, "exit_code": int(not good), "output": "\n".join(errors)}
        step = ValidationStep(
            command=f"check {index}", stage="test", passed=good, **{**known, **(more if not good else {})}
        )
        kind = "completed" if good else "failed"
        data = {"step": step.model_dump(mode="json"), "fingerprints": [] if good else list(errors)}
        story.write([event(f"done:{attempt}:{index}", f"validation_command_{kind}", phase, attempt, **data)])


def changed(story: Story, attempt: int, tree: str, patch: str = "", **more: Any) -> None:
    told = {"guidance": more.pop("guidance", [])}
    data = {
        "snapshot": tree,
        "paths": ["a.py"],
        "allPaths": ["a.py"],
        "agent": "x",
        "patchHash": patch or f"h{attempt}",
    }
    phase = Phase.IMPLEMENTATION
    story.write(
        [
            event(f"attempt:{attempt}", "attempt_started", phase, attempt, **told),
            event(f"changes:{attempt}", "changes_applied", phase, attempt, **{**data, **more}),
        ]
    )


def decided(story: Story, attempt: int, level: ProofLevel = "proven", because: ProofReason = "errors_gone") -> None:
    """The level of proof of the change of an attempt."""
    proof = Proof(level=level, because=because, before="red").model_dump(mode="json")
    story.write([event(f"proof:{attempt}", "proof_decided", Phase.VALIDATION, attempt, proof=proof)])


def begun(*errors: str) -> Story:
    """A run up to its first attempt, whose base shows these errors."""
    return begun_at(*errors)


def begun_at(*errors: str, stage: int = 2, **more: Any) -> Story:
    """The same, with the stage that shows them and what its step says beside."""
    story = Story()
    for action in ("begin", "validate", "prepare"):
        if action == "validate":
            checked(story, 0, *errors, stage=stage, **more)
        else:
            todo = next_action(wanted(), story.state, T0)
            assert todo.kind == action
            story.write(effect(wanted(), todo, story.state, Luck()))
    return story


def told(*attempts: tuple[str, str, tuple[str, ...]], base: tuple[str, ...] = ("E1",)) -> Story:
    """A run whose attempts made these changes (tree, patch) and showed these errors."""
    story = begun(*base)
    for number, (tree, patch, errors) in enumerate(attempts, 1):
        changed(story, number, tree, patch)
        checked(story, number, *errors)
    return story
