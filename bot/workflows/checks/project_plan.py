"""Plans the setup and the checks of a tree by its files alone: it runs nothing and writes nothing."""

from __future__ import annotations

from pathlib import Path

from bot.config import Policy
from bot.model import CHECK_ORDER, CheckName
from bot.model.project_plan import PlannedCheck, PlannedStep, ProjectPlan
from bot.workflows.checks.checks_to_run import default_stages
from bot.workspace.detect.monorepo import top_and_focus
from bot.workspace.setup.plan import plan_setup


def plan_project(tree: Path, policy: Policy, wanted: tuple[CheckName, ...] = ()) -> ProjectPlan:
    """The plan for the directory `tree` (absolute) under that policy: the checks in `wanted`, or all."""
    top, near = top_and_focus(tree)
    names = tuple(name for name in CHECK_ORDER if not wanted or name in wanted)
    steps = plan_setup(top, near, configured=policy.setup).steps
    return ProjectPlan(
        setup=tuple(
            PlannedStep(
                command=step.text,
                because=step.because,
                network=step.network,
                optional=step.optional,
            )
            for step in steps
        ),
        checks=tuple(
            PlannedCheck(
                check=name,
                command=stage.command.text if stage.command else "",
                because=stage.because,
                looked_for=stage.looked_for,
            )
            for name, stage in zip(names, default_stages(policy, top, near, names=names), strict=True)
        ),
    )
