"""The onboarding issue in both languages, from a plan that was really made."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import Policy
from bot.model import Language
from bot.model.project_plan import PlannedCheck, PlannedStep, ProjectPlan
from bot.reports.format.truncate import COMMENT_CHARS
from bot.reports.onboarding.issue import OnboardingView, onboarding_body, onboarding_title
from bot.workflows.checks.project_plan import plan_project
from tests.reports.golden import LANGUAGES, compare

PACKAGE = '{"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "3.0.0", "typescript": "5.0.0"}}'


def view(plan: ProjectPlan, **more: object) -> OnboardingView:
    known: dict[str, object] = {
        "repository": "octo/shop",
        "github_url": "https://github.com",
        "branch": "main",
        "plan": plan,
        "label": "auto-fix",
    }
    return OnboardingView.model_validate({**known, **more})


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_node_project(language: Language, tmp_path: Path) -> None:
    for name, text in (("package.json", PACKAGE), ("package-lock.json", "{}"), ("tsconfig.json", "{}")):
        (tmp_path / name).write_text(text)
    shown = view(plan_project(tmp_path, Policy()))
    compare(f"onboarding-node.{language}.md", f"{onboarding_title(language)}\n\n{onboarding_body(shown, language)}\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_empty_repository_whose_pull_requests_are_checked_anyway(language: Language) -> None:
    body = onboarding_body(view(ProjectPlan(), checks_at_once=True), language)
    compare(f"onboarding-empty.{language}.md", body + "\n")


def test_no_name_of_the_repository_gets_out_of_its_place() -> None:
    hostile = "@octo/team` | <img src=x> ```\n- [ ] #1 https://evil.example"
    step = PlannedStep(command=hostile, because=hostile, network=True, optional=False)
    plan = ProjectPlan(setup=(step,) * 50, checks=(PlannedCheck(check="test", command=hostile, because=hostile),))
    body = onboarding_body(view(plan, branch="a) [b](c", label="`x`"), "en")
    outside = body.split("<details>")[0]
    assert "\n- [ ] #1" not in body
    assert "(https://github.com/octo/shop/new/a%29%20%5Bb%5D%28c?filename=.github/mendbot.yml)" in outside
    assert len(body) < COMMENT_CHARS
