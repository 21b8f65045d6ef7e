"""A validation's stages come in order, the first failure ends it, and what has no command is said to be skipped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import ShellCommand, ValidationStep
from bot.model.pipeline import PipelineStage
from bot.reports.locale.reasons import english
from bot.rules.reasons import quoted
from bot.rules.runs.pipeline import CUSTOM, make_validation, next_index, no_command, skipped_step, stage_of
from bot.rules.runs.pipeline import STAGES as DEFAULT

STAGES = tuple(
    PipelineStage(name=name, command=ShellCommand(run=name, timeout_s=1)) for name in ("lint", "typecheck", "test")
)


def step(stage: str = "test", passed: bool = True, **more: object) -> ValidationStep:
    return ValidationStep.model_validate({"command": stage, "stage": stage, "passed": passed, "exitCode": 0, **more})


@given(st.lists(st.booleans(), max_size=3))
def test_stages_run_in_order_until_one_fails_or_none_is_left(verdicts: list[bool]) -> None:
    """REQ-RUN-004."""
    steps: list[ValidationStep] = []
    asked = []
    while (index := next_index(STAGES, steps)) is not None:
        asked.append(index)
        steps.append(step(STAGES[index].name, passed=verdicts[index] if index < len(verdicts) else True))
    first_failure = next((at for at, verdict in enumerate(verdicts) if not verdict), 2)
    assert asked == list(range(first_failure + 1))
    assert make_validation(steps).passed == all(verdicts)


def test_nothing_to_run_is_over_at_once() -> None:
    assert next_index((), ()) is None


def test_a_skipped_stage_lets_the_next_one_run_and_says_what_was_looked_for() -> None:
    """REQ-RUN-004."""
    stage = PipelineStage(name="lint", looked_for=(quoted("ruff"), quoted("eslint")))
    skipped = skipped_step(stage, english(no_command(stage)))
    assert skipped.passed and skipped.skipped
    assert (skipped.output, skipped.command) == ("no command: looked for ruff, eslint", "")
    assert next_index(STAGES, [skipped]) == 1


def test_the_first_failure_gives_the_whole_its_class() -> None:
    """REQ-RUN-004."""
    closed = make_validation([step("lint"), step("typecheck", False, classification="type", exitCode=2)])
    assert (closed.passed, closed.classification, closed.summary) == (False, "type", "typecheck failed: exit 2")


def test_a_success_names_what_ran_and_not_what_was_skipped() -> None:
    closed = make_validation([skipped_step(PipelineStage(name="lint"), "no command"), step("test")])
    assert (closed.passed, closed.summary, closed.classification) == (True, "passed: test", None)
    assert make_validation([skipped_step(PipelineStage(name="lint"), "no command")]).summary == "passed: nothing to run"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"timedOut": True, "exitCode": None}, "test failed: timed out"),
        ({"exitCode": None}, "test failed: did not start"),
        ({"exitCode": -9}, "test failed: exit -9"),
    ],
)
def test_a_summary_says_how_the_command_ended(how: dict[str, object], said: str) -> None:
    assert make_validation([step("test", False, **how)]).summary == said


# ---- what a given command checks


@pytest.mark.parametrize(
    ("stage", "commands"),
    [
        (
            "lint",
            "pnpm lint|npm run lint|npm run -s lint|yarn lint|bun run lint|make lint|just lint|tox -e lint|"
            "npx eslint .|pnpm exec eslint src|ruff check|uv run ruff check .|python -m flake8|poetry run pylint bot|"
            "cd x && pnpm lint|node_modules/.bin/eslint .|cargo clippy --all|golangci-lint run|npm  run  lint -- -f",
        ),
        (
            "typecheck",
            "pnpm type-check|npm run typecheck|yarn check-types|npx tsc --noEmit|vue-tsc|mypy .|"
            "uv run mypy --strict bot|python3 -m mypy .|.venv/bin/python3.11 -m mypy .|ty check|"
            "cd app && npm ci && tsc -b",
        ),
        (
            "test",
            "npm test|npm t|CI=1 npm test|CI=1 A='x' pnpm test|npm run build && npm test|uv run pytest -q|pytest|"
            ".venv/bin/pytest -x|python -m unittest|npx vitest run|jest|go test ./...|cargo test|tox|nox|make tests",
        ),
        (
            CUSTOM,
            "|./check.sh|python3 check.py|echo npm test|npm run lint:fix|pytest-watch|eslint-config|npm install|ruff|"
            "tox -e docs|nox -s docs|npm run lint && npm test|npm test && echo done|(cd x; npm test)|"
            "sh -c 'npm test'|&&|npm test &&",
        ),
    ],
)
def test_a_given_commands_own_words_tell_its_stage(stage: str, commands: str) -> None:
    """REQ-RUN-004, REQ-RUN-005: a command that is known is judged as what it is, others by what they print."""
    found = {command: stage_of(command) for command in commands.split("|")}
    assert found == dict.fromkeys(found, stage)


@pytest.mark.parametrize(
    "command",
    [
        "npm test || true",
        "pytest | tee log",
        "pytest; true",
        "pytest &",
        "true; x && npm test",
        "npm test\ntrue",
        "pytest # && mypy",
        "$(echo pytest)",
        "pytest `ls`",
    ],
)
def test_what_a_shell_may_do_beside_the_check_makes_it_custom(command: str) -> None:
    assert stage_of(command) == CUSTOM


@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from(["npm", "test", "&&", "A=1", "a/", "-m", "pytest", "\n"])).map(" ".join)
    )
)
def test_any_text_has_a_stage(command: str) -> None:
    assert stage_of(command) in (*DEFAULT, CUSTOM)


def test_a_long_command_is_read_at_once() -> None:
    for text in ("A=1 " * 50_000, "a/" * 50_000, "npx " * 50_000, "&&" * 50_000, "w" * 200_000):
        assert stage_of(text) == CUSTOM
