"""Logs go to stderr, as lines for people or as JSON; values that look like secrets are masked on the way out."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType

from bot.errors import ConfigError
from bot.reports.format.redact import Redactor
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "warn": logging.WARNING,
          "error": logging.ERROR, "trace": logging.DEBUG, "fatal": logging.CRITICAL}  # fmt: skip
_EVENT_WIDTH = 30
_COMMON_FIELDS = frozenset({"timestamp", "level", "event", "exception"})

Line = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Logger:
    """Writes events by name, each with its own fields and those that the logger was bound to."""

    fields: Mapping[str, object] = field(default_factory=dict)

    def bind(self, **fields: object) -> Logger:
        """A logger whose events have these fields too."""
        return Logger({**self.fields, **fields})

    def debug(self, event: str, /, **fields: object) -> None:
        self._write("debug", event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        self._write("info", event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        self._write("warning", event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        self._write("error", event, fields)

    def exception(self, event: str, /, **fields: object) -> None:
        """An error, with the traceback of the exception that is being handled."""
        self._write("error", event, {**fields, "exception": traceback.format_exc().rstrip()})

    def _write(self, level: str, event: str, fields: Mapping[str, object]) -> None:
        if LEVELS[level] >= _output.level:
            now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
            _output.write({**_context.get(), **self.fields, **fields, "timestamp": now, "level": level, "event": event})


_context: ContextVar[Mapping[str, object]] = ContextVar("log_fields", default=MappingProxyType({}))


@contextmanager
def log_fields(**fields: object) -> Iterator[None]:
    """Adds these fields to every event that is logged within, also by tasks that start there."""
    token = _context.set({**_context.get(), **fields})
    try:
        yield
    finally:
        _context.reset(token)


def get_logger() -> Logger:
    return Logger()


def set_up_logs(level: str, form: str) -> None:
    """Configure our logs and the standard library's; raises ConfigError for an unknown level or form."""
    check_log_settings(level, form)
    _output.level = LEVELS[level.lower()]
    _output.write = _to_stderr(_as_json if form == "json" else _as_text)
    logging.basicConfig(
        stream=sys.stderr,
        level=max(_output.level, logging.WARNING),
        format="%(levelname)s %(name)s: %(message)s",
    )


def check_log_settings(level: str, form: str) -> None:
    """Raises ConfigError for an unknown level or form."""
    if level.lower() not in LEVELS:
        raise user_error(make_reason("settings.log_level", level=level, levels=", ".join(LEVELS)), ConfigError)
    if form not in ("console", "json", "pretty"):
        raise user_error(make_reason("settings.log_format", form=form), ConfigError)


@contextmanager
def captured_logs() -> Iterator[list[Line]]:
    """Collects the lines of all levels in a list, instead of writing them."""
    lines: list[Line] = []
    before = _output.level, _output.write
    _output.level, _output.write = logging.NOTSET, lines.append
    try:
        yield lines
    finally:
        _output.level, _output.write = before


def _to_stderr(form: Callable[[Line], str]) -> Callable[[Line], None]:
    """Writes to the stderr of the moment at which a line is written: tests replace it."""
    redactor = Redactor()

    def write(line: Line) -> None:
        # masked at the end, as lists and objects hold values too; written in one call, as other threads write as well
        file = sys.stderr
        file.write(redactor.mask(form(line)) + "\n")
        file.flush()

    return write


def _as_json(line: Line) -> str:
    return json.dumps(line, default=repr)


def _as_text(line: Line) -> str:
    fields = {name: value for name, value in sorted(line.items()) if name not in _COMMON_FIELDS}
    values = " ".join(f"{name}={_plain(value)}" for name, value in fields.items())
    text = f"{line['timestamp']} [{line['level']:<9}] {line['event']:<{_EVENT_WIDTH}} {values}".rstrip()
    return f"{text}\n{line['exception']}" if "exception" in line else text


def _plain(value: object) -> str:
    """The text itself, or escaped if a line break or a control sequence in it could pass for another line."""
    return value if isinstance(value, str) and value.isprintable() else repr(value)


@dataclass(slots=True)
class _Output:
    """The output of this process. Before `set_up_logs` it is text, from warnings upwards."""

    level: int
    write: Callable[[Line], None]


_output = _Output(logging.WARNING, _to_stderr(_as_text))
