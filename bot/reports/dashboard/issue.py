"""The text of the dashboard issue: queue, failures, flaky tests and pauses, with checkboxes as commands."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model import Language
from bot.model.dashboard import DashboardLine, DashboardView, FlakyTest
from bot.reports.format.markdown import escape, page
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import bullets, joined, t

_MAX_LINES = 25
_MAX_NUMBERS = 10
_NAME_CHARS = 160


def dashboard_title(language: Language) -> str:
    """Returns the title of the issue."""
    return t(language, "dashboard.title")


def dashboard_body(view: DashboardView, language: Language) -> str:
    """Returns the body of the issue, without its marker; every box in it is empty."""
    sections = (
        ("queue", [_line(line, language) for line in view.queue]),
        ("failures", [_line(line, language) for line in view.failures]),
        ("flaky", [_flaky(test, language) for test in view.flaky]),
        ("pauses", [_line(line, language) for line in view.pauses]),
    )
    return page(
        [
            t(language, "dashboard.begin"),
            *(_section(name, lines, language) for name, lines in sections),
            t(language, "dashboard.end"),
        ],
        language,
    )


def _section(name: str, lines: Sequence[str], language: Language) -> str:
    shown = bullets(lines[:_MAX_LINES], len(lines), language) if lines else t(language, f"dashboard.{name}.none")
    return f"### {t(language, f'dashboard.{name}')}\n\n{shown}"


def _line(line: DashboardLine, language: Language) -> str:
    numbers = [f"#{number}" for number in line.numbers[:_MAX_NUMBERS]]
    hidden = len(line.numbers) - _MAX_NUMBERS
    threads = joined(language, numbers)
    if hidden > 0:
        threads = f"{', '.join(numbers)} {t(language, 'more', count=hidden)}"
    text = t(language, f"dashboard.{line.key}", threads=threads, detail=escape(line.detail, _NAME_CHARS))
    if line.box is None:
        return f"- {text}"
    return f"- [ ] {line.box.mark} {t(language, f'dashboard.do.{line.box.verb}')} {text}"


def _flaky(test: FlakyTest, language: Language) -> str:
    name, check = inline_code(test.name, _NAME_CHARS), inline_code(test.check, 40)
    return "- " + t(language, "dashboard.flaky.test", test=name, check=check, failed=test.failed, runs=test.runs)
