"""Renders the templates of the pages, and formats their times; every sentence comes from the catalog."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from bot.model import Language
from bot.reports.locale.catalog import duration, t
from bot.reports.locale.reasons import english_json, reason_text
from bot.reports.runs.usage import usage_words
from bot.web.pages.static_files import StaticFiles

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_EMPHASIS = re.compile(r"(?<![\w*])\*([A-Z가-힣][^*]{0,60})(?<=\w)\*(?![\w*])")
"""A name of GitHub's pages, such as `*Install App*`; a pattern of files such as `*.lock` is none."""
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_COLORS = {
    "good": ("success", "passed", "completed", "proven", "ready"),
    "bad": ("failed", "new_failures", "failure", "timed_out", "refused"),
    "attention": ("unproven",),
    "info": ("covered", "done"),
    "busy": ("running", "processing", "in_progress"),
    "waiting": ("queued", "accepted", "pending"),
}
_STATES = {state: name for name, states in _COLORS.items() for state in states}
"""The colour of a state, as a class of the stylesheet; gray for others."""


def age(language: Language, at_ms: int, now: float | None = None) -> str:
    """Returns how long ago that was: `just now`, `5 min ago`, `3 h ago`; the date after a week."""
    seconds = (time.time() if now is None else now) - at_ms / 1000
    if seconds < _MINUTE:
        return t(language, "pages.age.now")
    if seconds < _HOUR:
        return t(language, "pages.age.minutes", count=int(seconds // _MINUTE))
    if seconds < _DAY:
        return t(language, "pages.age.hours", count=int(seconds // _HOUR))
    if seconds < 7 * _DAY:
        return t(language, "pages.age.days", count=int(seconds // _DAY))
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d}"


def instant(at_ms: int) -> str:
    """Returns the time in UTC, as ISO 8601."""
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def milliseconds(at: datetime) -> int:
    """Returns the time as epoch milliseconds."""
    return int(at.timestamp() * 1000)


def color(state: str) -> str:
    """Returns the class of the stylesheet for a state of a run, a check, a delivery or a level of proof."""
    return _STATES.get(state, "neutral")


def with_code(text: str) -> Markup:
    """Returns the text as HTML, with what stands between backticks as code, and names between asterisks emphasized."""
    if isinstance(text, Markup):
        return text  # HTML already
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without its pair
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else _with_emphasis(part) for at, part in enumerate(parts)
    )


def _with_emphasis(text: str) -> Markup:
    pieces = _EMPHASIS.split(text)
    return Markup("").join(Markup("<em>{}</em>").format(piece) if at % 2 else piece for at, piece in enumerate(pieces))


class Templates:
    """The templates in one language; they are compiled when they are first used."""

    def __init__(self, language: Language, static: StaticFiles) -> None:
        self.language = language
        self._static = static
        self._environment: Environment | None = None

    def render(self, name: str, values: dict[str, Any]) -> str:
        """Returns the page of that template."""
        if self._environment is None:
            self._environment = self._build()
        return self._environment.get_template(name).render(values)

    def _build(self) -> Environment:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined  # no page, no need of it

        environment = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        language = self.language
        environment.globals |= {"t": partial(t, language), "static": self._static.address, "lang": language}
        environment.filters |= {
            "age": partial(age, language),
            "instant": instant,
            "ms": milliseconds,
            "color": color,
            "duration": partial(duration, language),
            "usage": lambda usage: usage_words(usage, language),
            "reason": lambda reason: with_code(reason_text(reason, language)),
            "code": with_code,
            "json": lambda value: json.dumps(english_json(value), ensure_ascii=False, indent=2),
            "number": lambda count: f"{count:,}",
        }
        return environment
