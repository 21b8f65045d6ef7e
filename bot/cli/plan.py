"""`mendbot check --plan`: the setup and the checks of a run in a tree, with the files that they come from. It runs
nothing and writes nothing."""

from __future__ import annotations

from pathlib import Path

from bot.cli.exits import NOT_PASSED, PASSED
from bot.cli.output import print_json, say
from bot.config import terminal_language
from bot.model import CHECK_ORDER, CheckName, Language, Model
from bot.model.reasons import Reason
from bot.reports.format.truncate import one_line
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import english_json, reason_text


class PlannedStep(Model):
    """A command of the setup and the file that asks for it."""

    command: str
    because: str
    network: bool
    optional: bool


class PlannedCheck(Model):
    """A check with its command and the file that it was chosen by; without a command, what was looked for."""

    check: CheckName
    command: str = ""
    because: str = ""
    looked_for: tuple[Reason, ...] = ()


class Plan(Model):
    """What a run would do in a tree before its first change."""

    setup: tuple[PlannedStep, ...]
    checks: tuple[PlannedCheck, ...]


async def plan_of(tree: Path, wanted: tuple[CheckName, ...]) -> Plan:
    """The plan for the directory `tree` (absolute), by its files alone."""
    from bot.workflows.checks.checks_to_run import default_stages
    from bot.workspace.detect.local_policy import local_policy
    from bot.workspace.detect.monorepo import top_and_focus
    from bot.workspace.setup.plan import plan_setup

    policy = await local_policy(tree)
    top, near = top_and_focus(tree)
    names = tuple(name for name in CHECK_ORDER if not wanted or name in wanted)
    steps = plan_setup(top, near, configured=policy.setup).steps
    return Plan(
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


_MAX_LINE = 2_000
"""Characters of a command or a list: people read them whole, or copy them."""


def print_plan(plan: Plan, *, as_json: bool) -> int:
    """Print the plan; returns the exit code: PASSED if a check has a command."""
    if as_json:
        print_json(english_json(plan.model_dump(mode="json")))
    else:
        for line in _lines(plan, terminal_language()):
            say(line)
    return PASSED if any(check.command for check in plan.checks) else NOT_PASSED


def _lines(plan: Plan, language: Language) -> list[str]:
    lines = []
    for step in plan.setup:
        network = "network" if step.network else "no_network"
        how = t(language, f"plan.{network}.optional" if step.optional else f"plan.{network}")
        lines.append(f"setup: `{one_line(step.command, _MAX_LINE)}` ({step.because}; {how})")
    lines += [] if plan.setup else [t(language, "plan.no_setup")]
    for check in plan.checks:
        if check.command:
            why = f" ({check.because})" if check.because else ""
            lines.append(f"{check.check}: `{one_line(check.command, _MAX_LINE)}`{why}")
        else:
            looked_for = one_line("; ".join(reason_text(one, language) for one in check.looked_for), _MAX_LINE)
            lines.append(t(language, "plan.no_command", check=check.check, looked_for=looked_for))
    if plan.setup:
        lines.append(t(language, "plan.again"))
    return lines
