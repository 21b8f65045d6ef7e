"""`mendbot check --plan`: the setup and the checks of a run in a tree, with the files that they come from. It runs
nothing and writes nothing."""

from __future__ import annotations

from pathlib import Path

from bot.cli.exits import NOT_PASSED, PASSED
from bot.cli.output import print_json, say
from bot.config import terminal_language
from bot.model import CheckName, Language
from bot.model.project_plan import PlannedCheck, ProjectPlan
from bot.reports.format.truncate import one_line
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import english_json, reason_text


async def plan_of(tree: Path, wanted: tuple[CheckName, ...]) -> ProjectPlan:
    """The plan for the directory `tree` (absolute), by its files alone."""
    from bot.workflows.checks.project_plan import plan_project
    from bot.workspace.detect.local_policy import local_policy

    return plan_project(tree, await local_policy(tree), wanted)


_MAX_LINE = 2_000
"""Characters of a command or a list: people read them whole, or copy them."""


def print_plan(plan: ProjectPlan, *, as_json: bool) -> int:
    """Print the plan; returns the exit code: PASSED if a check has a command."""
    if as_json:
        print_json(english_json(plan.model_dump(mode="json")))
    else:
        for line in _lines(plan, terminal_language()):
            say(line)
    return PASSED if any(check.command for check in plan.checks) else NOT_PASSED


def _lines(plan: ProjectPlan, language: Language) -> list[str]:
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
            lines.append(_unfound_line(check, language))
    if plan.setup:
        lines.append(t(language, "plan.again"))
    return lines


def unfound_lines(plan: ProjectPlan, language: Language) -> list[str]:
    """A line for each check without a command, with what was looked for."""
    return [_unfound_line(check, language) for check in plan.checks if not check.command]


def _unfound_line(check: PlannedCheck, language: Language) -> str:
    looked_for = one_line("; ".join(reason_text(one, language) for one in check.looked_for), _MAX_LINE)
    return t(language, "plan.no_command", check=check.check, looked_for=looked_for)
