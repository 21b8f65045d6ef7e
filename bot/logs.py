"""Logs go to stderr, as lines for people or as JSON; values that look like secrets are masked on the way out."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

from bot.errors import ConfigError
from bot.reports.format.redact import Redactor

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "warn": logging.WARNING,
          "error": logging.ERROR, "trace": logging.DEBUG, "fatal": logging.CRITICAL}  # fmt: skip


def set_up_logs(level: str, form: str) -> None:
    """Configure structlog and the standard library's logging; raises ConfigError for an unknown level or form."""
    if level.lower() not in LEVELS:
        raise ConfigError(f"LOG_LEVEL: `{level}` is not one of {', '.join(LEVELS)}")
    if form not in ("console", "json", "pretty"):
        raise ConfigError(f"LOG_FORMAT: `{form}` is neither console nor json")
    redactor = Redactor()

    def mask(_logger: Any, _name: str, line: Any) -> str:
        return redactor.mask(str(line))

    renderer: Any = (
        structlog.processors.JSONRenderer() if form == "json" else structlog.dev.ConsoleRenderer(colors=False)
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            renderer,
            mask,  # last, so that it sees what lists and objects hold too
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level.lower()]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(
        stream=sys.stderr,
        level=max(LEVELS[level.lower()], logging.WARNING),
        format="%(levelname)s %(name)s: %(message)s",
    )
