"""The hook after a tool has run: notes what failed, so that the pre-tool hook knows it before the next `Bash` (spec E).

An agent does not wait for its answer before each tool, so it may import the bot's own rules for errors; like the
pre-tool hook it prints nothing and exits 0 whatever is wrong (REQ-RA-302, REQ-RA-305)."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from bot.agent import hook
from bot.reports.format.redact import Redactor
from bot.rules.failures.normalize import normalize_error

DEADLINE_S = 4.0
MOST_LINE = 4_096
"""Bytes of one line of the spool; a single write of so little is not mixed with another's."""
MOST_SPOOL = 1_000_000
"""Bytes of the spool, past which nothing is noted any more."""
_BUSY_TIMEOUT_S = 1.0
_MOST_NAME = 200
_MOST_TEXT = 20_000
_MOST_RAW = 4_000
_MOST_MARKS = 20
_EXIT_LINE = re.compile(r"^\s*(?:Error: )?Exit code \d+\s*", re.IGNORECASE)
_CODES = ("exit_code", "exitCode", "returncode", "returnCode")
_TEXTS = ("error", "error_message", "message", "stderr", "stdout", "output", "content", "text")


@dataclass(frozen=True, slots=True)
class Failure:
    """One tool use that failed; `text` is what the agent was shown of it."""

    tool: str
    session_id: str
    text: str
    cwd: str = ""


def main() -> NoReturn:
    """Read the event on stdin, note it if it reports a failure, exit 0."""
    try:
        if not hook.is_silenced():
            hook.exit_at_deadline(DEADLINE_S)
            failure = read_failure(sys.stdin.buffer.read(hook.MOST_INPUT))
            if failure is not None:
                _note(failure)
    except Exception:  # noqa: S110  # as the pre-tool hook: broken input, a missing or locked database say nothing
        pass
    finally:
        os._exit(0)


def read_failure(request: bytes) -> Failure | None:
    """The failure that an agent's event reports; None for a success, a person's interrupt, or what is no such event.

    `PostToolUseFailure` has the text in `error`; `PostToolUse` reports successes, but some agents send it for each
    end, with an exit code or a flag in `tool_response` (code.claude.com/docs/en/hooks). Raises ValueError or
    RecursionError for what is no JSON."""
    event = json.loads(request.decode("utf-8", "replace").lstrip("\ufeff"))
    if not isinstance(event, dict) or event.get("is_interrupt") is True:
        return None
    tool, session = event.get("tool_name"), event.get("session_id")
    name = event.get("hook_event_name")
    if not isinstance(tool, str) or not isinstance(session, str) or not isinstance(name, str) or not tool:
        return None
    answer = event.get("tool_response")
    if name.lower().endswith("failure"):
        text = _text_of(event) or _text_of(answer)
    else:
        text = _text_of(answer) if _has_failed(answer) else ""
    if not text.strip():
        return None
    cwd = event.get("cwd")
    where = cwd if isinstance(cwd, str) else ""
    return Failure(_whole(tool)[:_MOST_NAME], _whole(session)[:_MOST_NAME], _whole(text), _whole(where)[:_MOST_RAW])


def telling_error(text: str, is_known: Callable[[str], bool]) -> str:
    """The normalised error by which a tool's whole output is remembered; empty where nothing in it can be read.

    The first of its error lines that the history knows, else the first of them, else all of it as one line."""
    shown = _EXIT_LINE.sub("", text)
    whole = normalize_error(shown) or normalize_error(text)
    marks = dict.fromkeys((*_error_lines(shown), whole))
    return next((mark for mark in marks if is_known(mark)), next(iter(marks)))


def _error_lines(text: str) -> tuple[str, ...]:
    try:
        from bot.rules.failures.errors import fingerprints
    except ImportError:  # in a box that lacks the packages it needs, the whole text must do
        return ()
    return fingerprints(text)[:_MOST_MARKS]


def _has_failed(answer: Any) -> bool:
    if not isinstance(answer, dict) or answer.get("interrupted") is True:
        return False
    if answer.get("is_error") is True or answer.get("isError") is True or answer.get("success") is False:
        return True
    codes = [answer[name] for name in _CODES if type(answer.get(name)) is int]
    return any(codes)


def _text_of(said: Any) -> str:
    if isinstance(said, str):
        return said[:_MOST_TEXT]
    if isinstance(said, list):
        return "\n".join(filter(None, map(_text_of, said[:50])))[:_MOST_TEXT]
    if not isinstance(said, Mapping):
        return ""
    return "\n".join(filter(None, (_text_of(said.get(name)) for name in _TEXTS)))[:_MOST_TEXT]


def _whole(text: str) -> str:
    """The text without halves of characters, which no file and no database takes."""
    return text.encode("utf-8", "replace").decode()


def _note(failure: Failure) -> None:
    """Into the spool where there is one, as in a box; else into the home database's events."""
    spool = hook.spool()
    if os.path.lexists(spool):
        _append(spool, failure)
        return
    address = f"file:{hook.quoted(os.path.realpath(hook.database()))}?mode=rw"  # one that is missing is not made
    with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_TIMEOUT_S)) as connection:
        text = Redactor().mask(failure.text)
        error = telling_error(text, _known_in(connection))
        if not error:
            return
        data = json.dumps({"tool": failure.tool, "error": error, "errorRaw": text[:_MOST_RAW]}, ensure_ascii=False)
        with connection:
            connection.execute(
                "INSERT INTO events (type, ts, session_id, project, project_path, data) "
                "VALUES ('tool_error', ?, ?, ?, ?, ?)",
                (_now(), failure.session_id, Path(failure.cwd).name or None, failure.cwd or None, data),
            )


def _append(spool: str, failure: Failure) -> None:
    descriptor = os.open(spool, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size + MOST_LINE > MOST_SPOOL:
            return
        os.write(descriptor, _line(failure, telling_error(failure.text, _known_in_snapshot)))
    finally:
        os.close(descriptor)


def _line(failure: Failure, error: str) -> bytes:
    """A line of the spool, of at most MOST_LINE bytes: the raw text is cut to what is left."""
    values = {"tool": failure.tool[:100], "error": error, "session_id": failure.session_id, "ts": _now()}
    rest = MOST_LINE - len(json.dumps({**values, "errorRaw": ""}, ensure_ascii=False).encode()) - 1
    raw = failure.text
    while len(json.dumps(raw, ensure_ascii=False).encode()) - 2 > max(0, rest):
        raw = raw[: len(raw) // 2]
    return json.dumps({**values, "errorRaw": raw}, ensure_ascii=False).encode() + b"\n"


def _known_in(connection: sqlite3.Connection) -> Callable[[str], bool]:
    return lambda error: connection.execute(hook.BY_TEXT, (error,)).fetchone() is not None


def _known_in_snapshot(error: str) -> bool:
    try:
        address = hook.address(hook.database())
        with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_TIMEOUT_S)) as connection:
            return _known_in(connection)(error)
    except (OSError, sqlite3.Error):
        return False  # what failed is worth noting without a snapshot, too


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")  # as `store.history.history` writes times


if __name__ == "__main__":
    main()
