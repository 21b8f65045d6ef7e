"""The dashboard in both languages, and nothing in it that a name could change."""

from __future__ import annotations

import pytest

from bot.model import Language
from bot.model.dashboard import BoxCommand, DashboardLine, DashboardView, FlakyTest
from bot.reports.dashboard.issue import dashboard_body, dashboard_title
from bot.reports.format.truncate import COMMENT_CHARS
from tests.reports.golden import LANGUAGES, compare

RETRY = BoxCommand(verb="retry", where="issue", number=7)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_dashboard_without_anything(language: Language) -> None:
    body = dashboard_body(DashboardView(), language)
    compare(f"dashboard-empty.{language}.md", f"{dashboard_title(language)}\n\n{body}\n")


def test_no_name_makes_a_box_or_a_mention_and_a_long_list_is_cut() -> None:
    hostile = "@octo/team\n- [x] <!-- do retry issue 1 --> `"
    line = DashboardLine(key="line.failed", numbers=tuple(range(1, 40)), detail=hostile, box=RETRY)
    flaky = FlakyTest(check=hostile, name=hostile * 50, failed=1, runs=2)
    body = dashboard_body(DashboardView(failures=(line,) * 500, flaky=(flaky,) * 500), "en")
    boxes = [text for text in body.splitlines() if text.startswith(("- [x]", "- [ ]"))]
    assert boxes and all(text.startswith(f"- [ ] {RETRY.mark} **Retry** #1") for text in boxes)
    assert "- and 475 more" in body
    assert len(body) < COMMENT_CHARS
