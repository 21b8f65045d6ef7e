"""The validation pipeline as a value: which stages there are, which comes next, and what they amount to.

It is REQ-RUN-004..006 without the running, which `workflows.validate` does."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model import Command, Noun, Validation, ValidationStep

STAGES = ("lint", "typecheck", "test")
"""The default pipeline's order (REQ-RUN-004)."""


class Stage(Noun):
    """One command of the pipeline; a default stage for which the project has none is skipped and recorded as such."""

    name: str
    command: Command | None = None
    looked_for: tuple[str, ...] = ()


def skipped_step(stage: Stage) -> ValidationStep:
    """The record of a stage that has no command."""
    looked = ", ".join(stage.looked_for)
    return ValidationStep(
        command="", stage=stage.name, passed=True, skipped=True, output=f"no command: looked for {looked}"
    )


def next_index(stages: Sequence[Stage], steps: Sequence[ValidationStep]) -> int | None:
    """The stage to run now, or None when the validation is over: all ran, or one failed (fail-fast)."""
    if steps and not steps[-1].passed:
        return None
    return len(steps) if len(steps) < len(stages) else None


def close(steps: Sequence[ValidationStep]) -> Validation:
    """What the steps amount to: passed only if none failed; the first failure classifies the whole."""
    failed = next((step for step in steps if not step.passed), None)
    if failed is None:
        ran = [step.stage for step in steps if not step.skipped]
        return Validation(passed=True, summary=f"passed: {', '.join(ran) or 'nothing to run'}", steps=tuple(steps))
    how = (
        "timed out" if failed.timed_out else "did not start" if failed.exit_code is None else f"exit {failed.exit_code}"
    )
    return Validation(
        passed=False, summary=f"{failed.stage} failed: {how}", classification=failed.classification, steps=tuple(steps)
    )
