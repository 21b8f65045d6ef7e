"""The onboarding issue: what Mendbot found in the repository, what it does there, and the file to commit."""

from __future__ import annotations

from urllib.parse import quote

from bot.config import POLICY_PATH
from bot.model import Language, Model
from bot.model.project_plan import PlannedCheck, PlannedStep, ProjectPlan
from bot.reports.format.markdown import details, page, table
from bot.reports.format.truncate import fence, inline_code
from bot.reports.locale.catalog import bullets, t
from bot.reports.onboarding.repo_file import repo_file

_COMMAND_CHARS = 200
_FILE_CHARS = 100
_MAX_STEPS = 12


class OnboardingView(Model):
    """What the issue shows. `checks_at_once`: the operator has all pull requests checked."""

    repository: str
    github_url: str
    branch: str
    plan: ProjectPlan
    label: str
    checks_at_once: bool = False


def onboarding_title(language: Language) -> str:
    """Returns the title of the issue."""
    return t(language, "onboarding.title")


def onboarding_body(view: OnboardingView, language: Language) -> str:
    """Returns the body of the issue, without its marker."""
    return page(
        [
            t(language, "onboarding.begin"),
            _next(view, language),
            f"### {t(language, 'onboarding.found')}",
            _checks(view.plan, language),
            _setup(view.plan, language),
            _file(view.plan, language),
            f"### {t(language, 'onboarding.then')}",
            _then(view, language),
            t(language, "onboarding.once"),
        ],
        language,
    )


def _next(view: OnboardingView, language: Language) -> str:
    if view.checks_at_once:
        return t(language, "onboarding.next.all")
    base = view.github_url.rstrip("/")
    address = f"{base}/{view.repository}/new/{quote(view.branch)}?filename={quote(POLICY_PATH)}"
    create = f"[{t(language, 'onboarding.create')}]({address})"
    lines = [t(language, "onboarding.next.file", create=create), t(language, "onboarding.next.check")]
    return "\n".join([t(language, "onboarding.next"), *(f"- {line}" for line in lines)])


def _file(plan: ProjectPlan, language: Language) -> str:
    text = fence(repo_file(plan, language), "yaml")
    return details(t(language, "onboarding.file"), text) if plan.checks else ""


def _checks(plan: ProjectPlan, language: Language) -> str:
    head = [t(language, f"onboarding.head.{name}") for name in ("check", "command", "because")]
    return table(head, [_row(check, language) for check in plan.checks]) if plan.checks else ""


def _row(check: PlannedCheck, language: Language) -> tuple[str, str, str]:
    name = inline_code(check.check)
    if check.command:
        because = inline_code(check.because, _FILE_CHARS) if check.because else "–"
        return name, inline_code(check.command, _COMMAND_CHARS), because
    return name, t(language, "onboarding.no_command"), "–"


def _setup(plan: ProjectPlan, language: Language) -> str:
    if not plan.setup:
        return t(language, "onboarding.no_setup") if plan.checks else t(language, "onboarding.empty")
    shown = [f"- {_step(step, language)}" for step in plan.setup[:_MAX_STEPS]]
    steps = bullets(shown, len(plan.setup), language)
    return f"{t(language, 'onboarding.setup')}\n{steps}\n\n{t(language, 'plan.again')}"


def _step(step: PlannedStep, language: Language) -> str:
    key = "plan.network" if step.network else "plan.no_network"
    how = t(language, f"{key}.optional" if step.optional else key)
    return f"{inline_code(step.command, _COMMAND_CHARS)} ({inline_code(step.because, _FILE_CHARS)}; {how})"


def _then(view: OnboardingView, language: Language) -> str:
    label = inline_code(view.label, 60)
    lines = (
        t(language, "onboarding.then.issues", label=label),
        t(language, "onboarding.then.pulls"),
        t(language, "onboarding.then.forks"),
        t(language, "onboarding.then.off", config=inline_code(POLICY_PATH)),
    )
    return "\n".join(f"- {line}" for line in lines)
