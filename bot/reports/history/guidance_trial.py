"""Texts of the trial of guidance, as `mendbot history trial` prints them."""

from __future__ import annotations

from bot.model import Language
from bot.model.guidance_trial import GuidanceTrial
from bot.reports.locale.catalog import t


def trial_text(trial: GuidanceTrial, language: Language) -> str:
    """Returns the figures of both groups, and their difference with its interval once both have runs."""
    if not (trial.shown or trial.withheld):
        return t(language, "guidance_trial.none")
    lines = [
        t(language, "guidance_trial.shown", passed=trial.shown_passed, runs=trial.shown),
        t(language, "guidance_trial.withheld", passed=trial.withheld_passed, runs=trial.withheld),
    ]
    if trial.difference is None or trial.low is None or trial.high is None:
        return "\n".join([*lines, t(language, "guidance_trial.one_group")])
    low, high, difference = (f"{100 * value:+.1f}" for value in (trial.low, trial.high, trial.difference))
    verdict = "helps" if trial.low > 0 else "harms" if trial.high < 0 else "open"
    lines.append(t(language, "guidance_trial.difference", difference=difference, low=low, high=high))
    return "\n".join([*lines, t(language, f"guidance_trial.{verdict}")])
