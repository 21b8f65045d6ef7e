"""Which commands will judge a run: those that were asked for, else what the project has (REQ-RUN-004)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from bot.config import CHECK_TIMEOUTS_S, POLICY_PATH, Policy
from bot.model import CheckName, SetupDone, ShellCommand, ShellOrArgv
from bot.model.pipeline import PipelineStage
from bot.model.setups import SetupPlan, SetupStep
from bot.rules.runs.pipeline import CUSTOM, STAGES, stage_of
from bot.rules.runs.spec import RunSpec
from bot.workspace.detect.command_finders import chosen_by
from bot.workspace.detect.detect import NoCommand, detect
from bot.workspace.detect.package_managers import programs_called
from bot.workspace.files.project_files import Project


def get_stages(spec: RunSpec, tree: Path, near: Sequence[str] = ()) -> tuple[PipelineStage, ...]:
    """The pipeline of a run in `tree`: the validation commands as given, else lint, typecheck and test, the latter by
    the test command where there is one. `near` names files that the work is about (`workspace.detect.detect`)."""
    if spec.validation_commands:
        return tuple(_given(spec, run, tree) for run in spec.validation_commands)
    return tuple(_default(spec, name, tree, near) for name in STAGES)


def default_stages(
    policy: Policy, tree: Path, near: Sequence[str] = (), *, names: Sequence[CheckName] = STAGES
) -> tuple[PipelineStage, ...]:
    """The checks that the configuration names or the project chose, as they are found in `tree`."""
    return tuple(_found(policy, name, tree, near) for name in names)


def built_first(
    stages: Sequence[PipelineStage], plan: SetupPlan, done: Sequence[SetupDone]
) -> tuple[PipelineStage, ...]:
    """The stages of a tree that was set up, those whose tests were found there with the builds that they need.

    A change is judged by what is built from it, not by what setup had built before it. What did not build is left out,
    and a command that somebody wrote stays as it is."""
    builds = [step for step, ended in zip(plan.steps, done, strict=False) if step.builds and ended.passed]
    return tuple(_built(stage, builds) if builds and _is_found_test(stage) else stage for stage in stages)


def _is_found_test(stage: PipelineStage) -> bool:
    return stage.name == "test" and stage.command is not None and stage.because not in ("", POLICY_PATH)


def _built(stage: PipelineStage, builds: Sequence[SetupStep]) -> PipelineStage:
    assert stage.command is not None
    own = stage.command.run if isinstance(stage.command.run, str) else shlex.join(stage.command.run)
    # in a shell of its own, as it may go to another directory
    run = " && ".join([*(f"({step.text})" if step.text.startswith("cd ") else step.text for step in builds), own])
    programs = dict.fromkeys((*stage.command.programs, *(each for step in builds for each in step.programs)))
    return stage.model_copy(
        update={"command": stage.command.model_copy(update={"run": run, "programs": tuple(programs)})}
    )


def _given(spec: RunSpec, run: ShellOrArgv, tree: Path) -> PipelineStage:
    command = ShellCommand(run=run, timeout_s=1.0, programs=programs_called(Project(tree), run))
    name = stage_of(command.text)
    timeout_s = _limit(spec, "test" if name == CUSTOM else name)
    return PipelineStage(name=name, command=command.model_copy(update={"timeout_s": timeout_s}))


def _default(spec: RunSpec, name: CheckName, tree: Path, near: Sequence[str]) -> PipelineStage:
    if name == "test" and spec.test_command:
        programs = programs_called(Project(tree), spec.test_command)
        command = ShellCommand(run=spec.test_command, timeout_s=_limit(spec, name), programs=programs)
        return PipelineStage(name=name, command=command)
    return _found(spec.policy, name, tree, near)


def _found(policy: Policy, name: CheckName, tree: Path, near: Sequence[str]) -> PipelineStage:
    found = detect(tree, name, policy.checks, near)
    if isinstance(found, NoCommand):
        return PipelineStage(name=name, looked_for=found.looked_for)
    configured = policy.checks.of(name).command is not None
    return PipelineStage(name=name, command=found, because=chosen_by(tree, found, configured=configured))


def _limit(spec: RunSpec, name: CheckName) -> float:
    return spec.policy.checks.of(name).timeout or CHECK_TIMEOUTS_S[name]
