"""The validation pipeline as a value: which stages there are, which comes next, and what they amount to.

It is REQ-RUN-004..006 without the running, which `workflows.runs.validate` does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from bot.model import CheckName, Validation, ValidationStep
from bot.model.pipeline import PipelineStage
from bot.model.reasons import Reason, listed, make_reason

STAGES: tuple[CheckName, ...] = ("lint", "typecheck", "test")
"""The default pipeline's order (REQ-RUN-004)."""
CUSTOM: Literal["custom"] = "custom"
StageName = CheckName | Literal["custom"]

_RUNNER = (
    r"(?:(?:npm|pnpm|yarn|bun)(?:[ ]run(?:-script)?)?|make|just|tox[ ]-e|nox[ ]-s|hatch[ ]run|poe|task)"
    r"(?:[ ]-(?:s|q|-silent|-quiet))*"
)
_DIRECTORIES = r"(?:[\w.@~+-]*/)*"  # as in `.venv/bin/pytest`
_TOOL = (
    rf"(?:(?:npx|bunx|(?:pnpm|yarn)[ ]exec|(?:uv|poetry|pdm)[ ]run|{_DIRECTORIES}python3?(?:\.\d+)?[ ]-m)[ ])*"
    rf"{_DIRECTORIES}"
)
_LINTERS = r"eslint|ruff[ ]check|flake8|pylint|stylelint|golangci-lint|cargo[ ]clippy"
_TYPE_CHECKERS = r"tsc|vue-tsc|mypy|pyright|basedpyright|ty[ ]check"
_TEST_RUNNERS = r"pytest|unittest|vitest|jest|mocha|(?:tox|nox)(?![ ]-[es]\b)|go[ ]test|cargo[ ]test"
_TOLD_BY: tuple[tuple[StageName, str], ...] = (
    ("lint", rf"(?:{_RUNNER}[ ]lint|{_TOOL}(?:{_LINTERS}))"),
    ("typecheck", rf"(?:{_RUNNER}[ ](?:type-?check|check-types)|{_TOOL}(?:{_TYPE_CHECKERS}))"),
    ("test", rf"(?:{_RUNNER}[ ]tests?|(?:npm|pnpm|yarn)[ ]t|{_TOOL}(?:{_TEST_RUNNERS}))"),
)
_COMMANDS = tuple((name, re.compile(rf"{pattern}(?=[ ]|$)")) for name, pattern in _TOLD_BY)
_SETTING = re.compile(r"^(?:\w+=\S*\s+)+")


def stage_of(command: str) -> StageName:
    """What a command that somebody gave checks, where its own words tell (`pnpm lint`, `uv run pytest -q`).

    The last of several joined by `&&` tells, unless one before it is another check; other shell constructions say
    nothing. Both are `custom`."""
    parts = [_SETTING.sub("", part.strip()) for part in command.strip().split("&&")]
    if any(sign in part for part in parts for sign in (*";|&`$(\n", " #")):
        return CUSTOM
    *before, told = (_stage_by(" ".join(part.split())) for part in parts)
    return told if {*before} <= {told, CUSTOM} else CUSTOM


def _stage_by(text: str) -> StageName:
    return next((name for name, pattern in _COMMANDS if pattern.match(text)), CUSTOM)


def named_by(commands: Iterable[str], paths: Iterable[str]) -> tuple[str, ...]:
    """Those of the paths that a command names as a word of its own: they are part of the check."""
    words = {word.removeprefix("./") for command in commands for word in re.split(r"[\s'\"=;,&|()]+", command)}
    return tuple(path for path in paths if path in words)


def no_command(stage: PipelineStage) -> Reason:
    """Why a stage without a command is skipped."""
    return make_reason("pipeline.no_command", looked=listed(stage.looked_for))


def skipped_step(stage: PipelineStage, output: str, command: str = "") -> ValidationStep:
    """The record of a stage that is not run; `output` is the reason, `command` is empty where it has none."""
    return ValidationStep(command=command, stage=stage.name, passed=True, skipped=True, output=output)


def next_index(
    stages: Sequence[PipelineStage], steps: Sequence[ValidationStep], *, fail_fast: bool = True
) -> int | None:
    """The stage to run now, or None when the validation is over: all ran, or one failed where it is to fail fast."""
    if fail_fast and steps and not steps[-1].passed:
        return None
    return len(steps) if len(steps) < len(stages) else None


def make_validation(steps: Sequence[ValidationStep], refused: bool = False) -> Validation:
    """What the steps amount to: passed only if none failed; the first failure classifies the whole. `refused` where
    the change is refused although its checks passed."""
    if refused:
        return Validation(passed=False, summary="refused: other tests ran", classification="test", steps=tuple(steps))
    failed = next((step for step in steps if not step.passed), None)
    if failed is None:
        ran = [step.stage for step in steps if not step.skipped]
        return Validation(passed=True, summary=f"passed: {', '.join(ran) or 'nothing to run'}", steps=tuple(steps))
    how = (
        "could not run"
        if failed.could_not_run
        else "timed out"
        if failed.timed_out
        else "needed too much memory"
        if failed.over_memory_mb
        else "did not start"
        if failed.exit_code is None
        else f"exit {failed.exit_code}"
    )
    return Validation(
        passed=False, summary=f"{failed.stage} failed: {how}", classification=failed.classification, steps=tuple(steps)
    )
