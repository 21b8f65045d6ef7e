"""Logs go to stderr, as lines for people or as JSON; values that look like secrets are masked on the way out."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TextIO

from bot.errors import ConfigError
from bot.reports.format.redact import Redactor

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "warn": logging.WARNING,
          "error": logging.ERROR, "trace": logging.DEBUG, "fatal": logging.CRITICAL}  # fmt: skip
_EVENT_WIDTH = 30
_OF_EVERY_LINE = frozenset({"timestamp", "level", "event", "exception"})

Line = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Logger:
    """Writes events by name, each with its fields, and with those that it was bound to."""

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
            _output.write({**self.fields, **fields, "timestamp": now, "level": level, "event": event})


def get_logger() -> Logger:
    return Logger()


def set_up_logs(level: str, form: str) -> None:
    """Configure our logs and the standard library's; raises ConfigError for an unknown level or form."""
    if level.lower() not in LEVELS:
        raise ConfigError(f"LOG_LEVEL: `{level}` is not one of {', '.join(LEVELS)}")
    if form not in ("console", "json", "pretty"):
        raise ConfigError(f"LOG_FORMAT: `{form}` is neither console nor json")
    _output.level = LEVELS[level.lower()]
    _output.write = _to_stderr(_as_json if form == "json" else _for_people, sys.stderr)
    logging.basicConfig(
        stream=sys.stderr,
        level=max(_output.level, logging.WARNING),
        format="%(levelname)s %(name)s: %(message)s",
    )


@contextmanager
def captured_logs() -> Iterator[list[Line]]:
    """What is logged meanwhile, of whatever level, in place of writing it."""
    lines: list[Line] = []
    before = _output.level, _output.write
    _output.level, _output.write = logging.NOTSET, lines.append
    try:
        yield lines
    finally:
        _output.level, _output.write = before


def _to_stderr(form: Callable[[Line], str], stream: TextIO | None = None) -> Callable[[Line], None]:
    """Writes to the stream, or to what is stderr when a line is written."""
    redactor = Redactor()

    def write(line: Line) -> None:
        # masked last, so that what lists and objects hold is seen too; in one call, as other threads write as well
        file = stream or sys.stderr
        file.write(redactor.mask(form(line)) + "\n")
        file.flush()

    return write


def _as_json(line: Line) -> str:
    return json.dumps(line, default=repr)


def _for_people(line: Line) -> str:
    fields = {name: value for name, value in sorted(line.items()) if name not in _OF_EVERY_LINE}
    values = " ".join(f"{name}={_plain(value)}" for name, value in fields.items())
    text = f"{line['timestamp']} [{line['level']:<9}] {line['event']:<{_EVENT_WIDTH}} {values}".rstrip()
    return f"{text}\n{line['exception']}" if "exception" in line else text


def _plain(value: object) -> str:
    """A text as it is, unless a line break or a control sequence in it would pass for a line of its own."""
    return value if isinstance(value, str) and value.isprintable() else repr(value)


@dataclass(slots=True)
class _Output:
    """Where the lines of this process go. Until `set_up_logs`, warnings and worse are for people."""

    level: int
    write: Callable[[Line], None]


_output = _Output(logging.WARNING, _to_stderr(_for_people))
