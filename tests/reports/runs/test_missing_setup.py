"""What a person reads of a check that could not run because the project is not set up, in both languages."""

from __future__ import annotations

import pytest

from bot.model import CouldNotRun, Language, NeededSetup, ValidationStep
from bot.reports.runs.missing_setup import setup_sentence
from bot.reports.runs.validation import how_it_ended

REASONS = {
    "dependencies": NeededSetup(because="dependencies", what="package.json", command="npm ci"),
    "name": NeededSetup(because="name", what="packaging", command="uv sync"),
    "tool": NeededSetup(because="tool", what="pytest", place=".venv", command="uv sync"),
}


@pytest.mark.parametrize("because", REASONS)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_reason_and_remedy_are_named(because: str, language: Language) -> None:
    needed = REASONS[because]
    said = setup_sentence(needed, language)
    for word in (f"`{needed.what}`", f"`{needed.command}`", "`setup`", "`.github/mendbot.yml`", needed.place):
        assert word in said
    assert ("declares" in said or "import" in said or "has no" in said) == (language == "en")


def test_words_of_a_repository_stay_words() -> None:
    needed = NeededSetup(because="dependencies", what="`@ada`/package.json", command="cd '@ada' && npm ci\n# x")
    assert setup_sentence(needed, "en").startswith("`` `@ada`/package.json `` declares dependencies")
    assert "\n" not in setup_sentence(needed, "en")


def test_the_end_is_told_as_could_not_run_and_comes_back_from_a_row() -> None:
    unable = CouldNotRun(hindrance="not_set_up", what="pytest", setup=REASONS["tool"])
    step = ValidationStep(command="pytest", stage="test", passed=False, could_not_run=unable)
    read = ValidationStep.model_validate_json(step.model_dump_json(by_alias=True))
    assert read == step
    assert how_it_ended(read, "en") == "could not run: the project is not set up"
    assert how_it_ended(read, "ko") == "실행하지 못함: 프로젝트가 설정되지 않음"
