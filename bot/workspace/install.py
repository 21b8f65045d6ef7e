"""Carries out a setup plan in a tree: what was kept is given, the rest is run, and what may be shared is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bot.model import Command
from bot.model.setups import SetupPlan, SetupStep
from bot.proc import ProcResult
from bot.workspace.sandbox import Grant, Sandbox

SETUP_TIMEOUT_S = 1800.0
"""How long one step may take."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where the products of `repo`'s trees are kept. `head` is "" for a tree of the default branch, whose products all
    trees get; else the commit of a pull request's head, and what is made there serves that head alone (T31)."""

    directory: Path
    repo: str
    head: str = ""


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step that has ended; without a result its products had been kept, and it was not run."""

    step: SetupStep
    result: ProcResult | None

    @property
    def passed(self) -> bool:
        return self.result is None or self.result.exit_code == 0


@dataclass(frozen=True, slots=True)
class Installed:
    """A setup that has ended, with its steps up to the one that failed."""

    steps: tuple[StepDone, ...] = ()

    @property
    def failed(self) -> StepDone | None:
        return next((done for done in self.steps if not done.passed and not done.step.optional), None)


async def install(
    plan: SetupPlan, tree: Path, sandbox: Sandbox, *, grant: Grant, shelf: Shelf | None, mask: Callable[[str], str]
) -> Installed:
    """Carry out the plan in `tree` (absolute), step by step, up to the first that fails and is not optional."""
    done: list[StepDone] = []
    for step in plan.steps:
        command = Command(run=step.run, timeout_s=SETUP_TIMEOUT_S, programs=step.programs)
        own = plan.configured or not step.network  # what was detected runs no code of the tree with the network
        result = await sandbox.run(command, tree, grant=replace(grant, network=step.network, tree_programs=own))
        done.append(StepDone(step, result))
        if not done[-1].passed and not step.optional:
            break
    return Installed(tuple(done))
