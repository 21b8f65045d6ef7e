"""What a successful run has proven. It is a fix only where a check failed before the change and passes with it. Where
all checks passed before, or pass only sometimes, the change may be right, but nothing proves it."""

from __future__ import annotations

from collections.abc import Mapping

from bot.model import Proof, Validation, ValidationStep
from bot.rules.patches.style_findings import about_style, is_style
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState


def proof_of(spec: RunSpec, state: RunState) -> Proof:
    """What the run's last validation, which passed, proves of its change.

    `shown`: a check that failed before passes. `green`: all checks passed before. `unchecked`: no check had a result
    before. `luck`: a check that failed before passes only on a rerun, or was not run. `style_only`: lint or format
    findings are gone, by fixers alone, while the task is about something else."""
    before = _failed_before(state)
    if not before:
        return "green" if state.baseline is not None and state.baseline.passed else "unchecked"
    last = state.validations[-1] if state.validations else None
    gone = [step for index, step in before.items() if _passes(last, index)]
    if not gone:
        return "luck"
    kept = [made for made in state.made if not made.undone]
    if all(made.mechanical for made in kept) and all(map(is_style, gone)) and not _asks_for_style(spec, gone):
        return "style_only"
    return "shown"


def _failed_before(state: RunState) -> Mapping[int, ValidationStep]:
    """The checks that failed before the change, by their index in the pipeline: on the base or, if that was not
    checked, in an earlier attempt. A check that did not start does not count."""
    earlier = (state.baseline,) if state.baseline is not None else state.validations[:-1]
    return {
        index: step
        for validation in earlier
        for index, step in enumerate(validation.steps)
        if not step.passed and _started(step)
    }


def _started(step: ValidationStep) -> bool:
    return step.cut_short or (step.exit_code is not None and step.could_not_run is None)


def _passes(validation: Validation | None, index: int) -> bool:
    steps = validation.steps if validation else ()
    return index < len(steps) and steps[index].passed and not steps[index].flaky and not steps[index].skipped


def _asks_for_style(spec: RunSpec, gone: list[ValidationStep]) -> bool:
    """Whether every issue, or the task, is about such findings."""
    findings = [one for step in gone for one in step.annotations]
    texts = [f"{issue.title}\n{issue.body}" for issue in spec.issues] or [spec.task]
    return all(about_style(text, findings) for text in texts)
