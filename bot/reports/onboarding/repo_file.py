"""The text of a first `.github/mendbot.yml`: comments with what was found, which change nothing by themselves."""

from __future__ import annotations

import json

from bot.model import Language
from bot.model.project_plan import PlannedCheck, PlannedStep, ProjectPlan
from bot.reports.format.truncate import one_line
from bot.reports.locale.catalog import t

_COMMAND_CHARS = 400
_FILE_CHARS = 100
_MAX_STEPS = 12


def repo_file(plan: ProjectPlan, language: Language = "en") -> str:
    """Returns the file: the setup and the checks that were found, as comments that a person may uncomment.

    Mendbot goes on to read the commands from the project's files. A command that is written here is fixed."""
    lines = [t(language, "repo_file.head"), t(language, "repo_file.found"), ""]
    if plan.setup:
        lines += [t(language, "repo_file.setup"), *map(_step, plan.setup[:_MAX_STEPS])]
        lines += [t(language, "repo_file.setup.own"), "setup: npm ci", ""]
    lines += [t(language, "repo_file.checks"), "checks:", *(_check(check, language) for check in plan.checks)]
    return "".join(f"# {line}\n" if line else "\n" for line in lines)


def _step(step: PlannedStep) -> str:
    return f"  {one_line(step.command, _COMMAND_CHARS)} ({one_line(step.because, _FILE_CHARS)})"


def _check(check: PlannedCheck, language: Language) -> str:
    if not check.command:
        return "  " + t(language, "repo_file.no_command", check=check.check)
    # text in JSON is text in YAML
    command = json.dumps(one_line(check.command, _COMMAND_CHARS), ensure_ascii=False)
    because = f" # {one_line(check.because, _FILE_CHARS)}" if check.because else ""
    return f"  {check.check}: {{ command: {command} }}{because}"
