"""The validation pipeline: its stages, the next one to run, and the result of all (REQ-RUN-004..006).
`workflows.runs.validate` runs them."""

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
_STAGE_PATTERNS: tuple[tuple[StageName, str], ...] = (
    ("lint", rf"(?:{_RUNNER}[ ]lint|{_TOOL}(?:{_LINTERS}))"),
    ("typecheck", rf"(?:{_RUNNER}[ ](?:type-?check|check-types)|{_TOOL}(?:{_TYPE_CHECKERS}))"),
    ("test", rf"(?:{_RUNNER}[ ]tests?|(?:npm|pnpm|yarn)[ ]t|{_TOOL}(?:{_TEST_RUNNERS}))"),
)
_COMMANDS = tuple((name, re.compile(rf"{pattern}(?=[ ]|$)")) for name, pattern in _STAGE_PATTERNS)
_SETTING = re.compile(r"^(?:\w+=\S*\s+)+")


def stage_of(command: str) -> StageName:
    """The kind of check that a command of a person runs, where its words show it (`pnpm lint`, `uv run pytest -q`).

    Of several commands joined by `&&` the last one decides, unless an earlier one is another check; then, and for
    other shell constructions, it is `custom`."""
    parts = [_SETTING.sub("", part.strip()) for part in command.strip().split("&&")]
    if any(sign in part for part in parts for sign in (*";|&`$(\n", " #")):
        return CUSTOM
    *before, last = (_stage_by(" ".join(part.split())) for part in parts)
    return last if {*before} <= {last, CUSTOM} else CUSTOM


def _stage_by(text: str) -> StageName:
    return next((name for name, pattern in _COMMANDS if pattern.match(text)), CUSTOM)


def runs_tests(stage: PipelineStage) -> bool:
    """Whether a stage runs tests, as far as its name and its command show: no linter and no type checker."""
    if stage.command is None or stage.name not in ("test", CUSTOM):
        return False
    return stage_of(stage.command.text) not in ("lint", "typecheck")


def named_by(commands: Iterable[str], paths: Iterable[str]) -> tuple[str, ...]:
    """The paths that a command names as a word of its own: they are part of the check."""
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
    """The stage to run now; None when the validation is over: all ran, or one failed and it fails fast."""
    if fail_fast and steps and not steps[-1].passed:
        return None
    return len(steps) if len(steps) < len(stages) else None


def make_validation(steps: Sequence[ValidationStep], refused: bool = False) -> Validation:
    """The validation of these steps: passed only if none failed; the first failure classifies it. `refused`: the
    change is refused although its checks passed."""
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
