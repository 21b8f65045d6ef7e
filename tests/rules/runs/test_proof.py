"""What a green run has shown, and which findings mechanical fixers may work on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.model import Annotation, CouldNotRun, Issue, Proof, Repo, StyleFindings, Validation, ValidationStep
from bot.rules.patches.style_findings import about_style, is_style, keeps, may_fix, style_findings
from bot.rules.runs.changes import AttemptChange
from bot.rules.runs.fixable_files import fixable_findings
from bot.rules.runs.pipeline import make_validation
from bot.rules.runs.proof import proof_of
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState


def step(stage: str = "test", code: int | None = 0, command: str = "", **more: object) -> ValidationStep:
    known = {"command": command or stage, "stage": stage, "passed": code == 0, "exit_code": code}
    return ValidationStep.model_validate({**known, **more})


def found(path: str, message: str = "`os` imported but unused", rule: str = "F401") -> Annotation:
    return Annotation(path=path, start_line=1, end_line=1, level="failure", message=message, rule=rule)


def lint_fails(*paths: str) -> Validation:
    return make_validation([step("lint", 1, annotations=tuple(map(found, paths)))])


GREEN = make_validation([step("lint"), step()])
RED = make_validation([step("lint"), step(code=1)])
LUCKY = make_validation([step("lint"), step(flaky=True)])
HUNG = make_validation([step("lint"), step(code=None, timed_out=True)])
MISSING = make_validation(
    [step("lint"), step(code=127, could_not_run=CouldNotRun(hindrance="not_found", what="pytest"))]
)
CRASH = (Issue(number=7, title="It crashes on Mondays", body="see the date formatter"),)
UNUSED = (Issue(number=7, title="Unused imports in a.py"),)


def made(agent: str, attempt: int = 1) -> AttemptChange:
    return AttemptChange(attempt, agent, f"t{attempt - 1}", f"t{attempt}", "h", ("a.py",), ())


def spec(issues: tuple[Issue, ...]) -> RunSpec:
    return RunSpec(repo=Repo(owner="o", name="r", installation_id=1), issues=issues, agents=("fixers",))


@pytest.mark.parametrize(
    ("baseline", "validations", "agent", "issues", "expected"),
    [
        (RED, (GREEN,), "command", CRASH, "shown"),
        (HUNG, (GREEN,), "command", CRASH, "shown"),
        (GREEN, (GREEN,), "command", CRASH, "green"),
        (GREEN, (RED, GREEN), "command", CRASH, "green"),
        (RED, (LUCKY,), "command", CRASH, "luck"),
        (MISSING, (GREEN,), "command", CRASH, "unchecked"),
        (None, (GREEN,), "command", CRASH, "unchecked"),
        (None, (RED, GREEN), "command", CRASH, "shown"),
        (lint_fails("a.py"), (GREEN,), "command", CRASH, "shown"),
        (lint_fails("a.py"), (GREEN,), "fixers", CRASH, "style_only"),
        (lint_fails("a.py"), (GREEN,), "fixers", UNUSED, "shown"),
        (lint_fails("a.py"), (GREEN,), "fixers", (*UNUSED, *CRASH), "style_only"),
    ],
)
def test_a_fix_is_shown_by_a_check_that_failed_before_and_passes_with_it(
    baseline: Validation | None,
    validations: tuple[Validation, ...],
    agent: str,
    issues: tuple[Issue, ...],
    expected: Proof,
) -> None:
    state = RunState(baseline=baseline, validations=validations, made=(made(agent),), attempt=len(validations))
    assert proof_of(spec(issues), state) == expected


def test_a_replay_that_was_undone_has_no_part_in_what_is_shown() -> None:
    undone = replace(made("history"), undone=True)
    state = RunState(baseline=lint_fails("a.py"), validations=(RED, GREEN), made=(undone, made("fixers", 2)), attempt=2)
    assert proof_of(spec(CRASH), state) == "style_only"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lint fails on main", True),
        ("린트 오류를 고쳐 주세요", True),
        ("see F401", True),
        ("`src/a.py` is not formatted", True),
        ("a.py: run the formatter", True),
        ("dates are formatted wrong", False),
        ("splinter crashes", False),
        ("a.py crashes", False),
    ],
)
def test_whether_an_issue_is_about_lint_is_read_from_its_words(text: str, expected: bool) -> None:
    assert about_style(text, [found("src/a.py")]) is expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("black --check .", True),
        ("ruff format --check", True),
        ("npx prettier -c src", True),
        ("gofmt -l .", True),
        ("black .", False),
        ("pytest", False),
    ],
)
def test_a_format_check_is_known_by_its_command(command: str, expected: bool) -> None:
    assert is_style(step("custom", 1, command)) is expected


def test_findings_are_told_apart_and_documents_and_lock_files_are_left_out() -> None:
    notes = tuple(map(found, ("a.py", "docs/b.py", "README.md", "package-lock.json", "web/uv.lock", "notes.txt")))
    bad = found("c.py", "unformatted: File would be reformatted", "")
    failed = make_validation([step("lint", 1, annotations=(*notes, bad))])
    assert style_findings(failed) == StyleFindings(lint=("a.py",), unformatted=("c.py",))
    listed = make_validation([step("custom", 1, "gofmt -l .", listed_files=("b.go", "sub/c.go"))])
    assert style_findings(listed).unformatted == ("b.go", "sub/c.go")
    both = make_validation([step("lint", 1, "ruff check . && ruff format --check .", annotations=(found("a.py"),))])
    assert style_findings(both) == StyleFindings(lint=("a.py",), unformatted=("a.py",))
    assert style_findings(GREEN) == style_findings(RED) == style_findings(None) == StyleFindings()
    assert may_fix("src/a.py") and not may_fix("doc/conf.py") and not may_fix("")


def test_fixers_work_on_what_the_base_showed_or_another_agent_changed() -> None:
    base = RunState(baseline=lint_fails("a.py", "b.py"))
    assert fixable_findings(base).files == ("a.py", "b.py")
    assert fixable_findings(RunState(baseline=base.baseline, focus=("b.py", "c.py"))).files == ("b.py",)
    assert fixable_findings(RunState(baseline=GREEN, focus=("a.py",))) == StyleFindings()
    later = RunState(
        baseline=GREEN, validations=(lint_fails("a.py", "b.py"),), made=(made("command"),), changed_paths=("a.py",)
    )
    assert fixable_findings(later).files == ("a.py",)
    assert fixable_findings(RunState(baseline=base.baseline, made=(made("fixers"),))) == StyleFindings()


def test_what_fixers_did_stays_where_lint_passes() -> None:
    assert keeps(lint_fails("a.py"), GREEN)
    assert keeps(lint_fails("a.py"), RED)
    assert not keeps(lint_fails("a.py"), lint_fails("b.py"))
