"""Which commands will judge a run: those that were asked for, else what the project has (REQ-RUN-004)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.config import CHECK_TIMEOUTS_S, Policy
from bot.model import CheckName, Command, ShellOrArgv
from bot.rules.course import RunSpec
from bot.rules.pipeline import CUSTOM, STAGES, Stage, stage_of
from bot.workspace.chosen_by import chosen_by
from bot.workspace.detect import Missing, detect
from bot.workspace.package_managers import programs_called
from bot.workspace.project import Project


def stages_of(spec: RunSpec, tree: Path, near: Sequence[str] = ()) -> tuple[Stage, ...]:
    """The pipeline of a run in `tree`: the validation commands as given, else lint, typecheck and test, the latter by
    the test command where there is one. `near` names files that the work is about (`workspace.detect`)."""
    if spec.validation_commands:
        return tuple(_given(spec, run, tree) for run in spec.validation_commands)
    return tuple(_default(spec, name, tree, near) for name in STAGES)


def default_stages(
    policy: Policy, tree: Path, near: Sequence[str] = (), *, names: Sequence[CheckName] = STAGES
) -> tuple[Stage, ...]:
    """The checks that the configuration names or the project chose, as they are found in `tree`."""
    return tuple(_found(policy, name, tree, near) for name in names)


def _given(spec: RunSpec, run: ShellOrArgv, tree: Path) -> Stage:
    command = Command(run=run, timeout_s=1.0, programs=programs_called(Project(tree), run))
    name = stage_of(command.text)
    timeout_s = _limit(spec, "test" if name == CUSTOM else name)
    return Stage(name=name, command=command.model_copy(update={"timeout_s": timeout_s}))


def _default(spec: RunSpec, name: CheckName, tree: Path, near: Sequence[str]) -> Stage:
    if name == "test" and spec.test_command:
        programs = programs_called(Project(tree), spec.test_command)
        command = Command(run=spec.test_command, timeout_s=_limit(spec, name), programs=programs)
        return Stage(name=name, command=command)
    return _found(spec.policy, name, tree, near)


def _found(policy: Policy, name: CheckName, tree: Path, near: Sequence[str]) -> Stage:
    found = detect(tree, name, policy.checks, near)
    if isinstance(found, Missing):
        return Stage(name=name, looked_for=found.looked_for)
    configured = policy.checks.of(name).command is not None
    return Stage(name=name, command=found, because=chosen_by(tree, found, configured=configured))


def _limit(spec: RunSpec, name: CheckName) -> float:
    return spec.policy.checks.of(name).timeout or CHECK_TIMEOUTS_S[name]
