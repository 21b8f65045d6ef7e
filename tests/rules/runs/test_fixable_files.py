"""The files that mechanical fixers may change in a run."""

from __future__ import annotations

from bot.model import StyleFindings
from bot.rules.runs.fixable_files import fixable_findings
from bot.rules.runs.state import RunState
from tests.rules.runs.proof_states import GREEN, lint_fails, made


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
