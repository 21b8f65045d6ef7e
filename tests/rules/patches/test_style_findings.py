"""Which findings mechanical fixers may work on, and which issues are about these."""

from __future__ import annotations

import pytest

from bot.model import StyleFindings
from bot.rules.patches.style_findings import about_style, is_style, keeps, may_fix, style_findings
from bot.rules.runs.pipeline import make_validation
from tests.rules.runs.proof_states import GREEN, RED, found, lint_fails, step


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


def test_what_fixers_did_stays_where_lint_passes() -> None:
    assert keeps(lint_fails("a.py"), GREEN)
    assert keeps(lint_fails("a.py"), RED)
    assert not keeps(lint_fails("a.py"), lint_fails("b.py"))
