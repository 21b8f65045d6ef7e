"""The first configuration file shows what was found and changes nothing until a line is uncommented."""

from __future__ import annotations

import re

import pytest

from bot.config import Policy, parse_policy_file
from bot.model import Language
from bot.model.project_plan import PlannedCheck, PlannedStep, ProjectPlan
from bot.reports.onboarding.repo_file import repo_file

PLAN = ProjectPlan(
    setup=(PlannedStep(command="npm ci", because="package-lock.json", network=True, optional=False),),
    checks=(
        PlannedCheck(check="typecheck"),
        PlannedCheck(check="lint", command='eslint "src # all"', because="package.json"),
        PlannedCheck(check="test", command="npm test", because="package.json"),
    ),
)


def uncommented(text: str) -> str:
    """The file after a person has uncommented the checks."""
    kept = [line[2:] for line in text.splitlines() if re.match(r"# (checks:$|  (lint|test): \{)", line)]
    return "\n".join(kept) + "\n"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_file_names_what_was_found_and_keeps_every_default(language: Language) -> None:
    text = repo_file(PLAN, language)
    assert parse_policy_file(text.encode()) == Policy()
    assert "#   npm ci (package-lock.json)\n" in text
    assert '#   test: { command: "npm test" } # package.json\n' in text
    assert "typecheck" in text


@pytest.mark.parametrize("language", ["en", "ko"])
def test_uncommented_lines_are_valid_and_fix_the_commands(language: Language) -> None:
    parsed = parse_policy_file(uncommented(repo_file(PLAN, language)).encode())
    assert isinstance(parsed, Policy), parsed
    assert parsed.checks.lint.command == 'eslint "src # all"'
    assert parsed.checks.test.command == "npm test"


def test_line_breaks_of_a_hostile_command_stay_in_their_comment() -> None:
    hostile = PlannedCheck(check="test", command="true\nsetup: curl evil", because="a\nsetup: curl evil")
    assert parse_policy_file(repo_file(ProjectPlan(checks=(hostile,))).encode()) == Policy()
