"""The hook after a tool has run: records failures, which the pre-tool hook shows before the next `Bash` (spec E).

It may import the bot's rules for errors, as an agent does not wait for it before each tool. Like the pre-tool hook it
prints nothing and exits 0 whatever is wrong (REQ-RA-302, REQ-RA-305)."""

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
MAX_LINE = 4_096
"""Bytes of one line of the spool; a single write of this size is not mixed with another's."""
MAX_SPOOL = 1_000_000
"""Bytes of the spool, after which nothing more is recorded."""
_BUSY_TIMEOUT_S = 1.0
_MAX_NAME = 200
_MAX_TEXT = 20_000
_MAX_RAW = 4_000
_MAX_MARKS = 20
_EXIT_LINE = re.compile(r"^\s*(?:Error: )?Exit code \d+\s*", re.IGNORECASE)
_CODES = ("exit_code", "exitCode", "returncode", "returnCode")
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)
_TEXTS = ("error", "error_message", "message", "stderr", "stdout", "output", "content", "text", "returnDisplay")


@dataclass(frozen=True, slots=True)
class Failure:
    """One tool use that failed; `text` is the output that the agent saw.

    It is not `certain` where the agent reports output alone, and no exit code."""

    tool: str
    session_id: str
    text: str
    cwd: str = ""
    certain: bool = True


def main() -> NoReturn:
    """Reads the event on stdin, records it if it reports a failure, and exits 0."""
    try:
        if not hook.is_silenced():
            hook.exit_at_deadline(DEADLINE_S)
            failure = read_failure(sys.stdin.buffer.read(hook.MAX_INPUT))
            if failure is not None:
                _record(failure)
    except Exception:  # noqa: S110  # as the pre-tool hook: broken input, a missing or locked database say nothing
        pass
    finally:
        os._exit(0)


def read_failure(request: bytes) -> Failure | None:
    """The failure that an agent's event reports; None for a success, a person's interrupt, or another event.

    `PostToolUseFailure` has the text in `error`. `PostToolUse` reports successes, but some agents send it for every
    end, with an exit code or a flag in `tool_response` (code.claude.com/docs/en/hooks), Gemini CLI (`AfterTool`) and
    Qwen Code with a line for the exit code in `llmContent`, Codex (`turn_id`) with a command's output alone. Raises
    ValueError or RecursionError for broken JSON."""
    event = json.loads(request.decode("utf-8", "replace").lstrip("\ufeff"))
    if not isinstance(event, dict) or event.get("is_interrupt") is True:
        return None
    tool, session = event.get("tool_name"), event.get("session_id")
    name = event.get("hook_event_name")
    if not isinstance(tool, str) or not isinstance(session, str) or not isinstance(name, str) or not tool:
        return None
    answer, tool = event.get("tool_response"), hook.TOOLS.get(tool, tool)
    uncertain = isinstance(answer, str) and tool == "Bash" and "turn_id" in event
    if name.lower().endswith("failure"):
        text = _text_of(event) or _text_of(answer)
    else:
        text = _text_of(answer) if uncertain or _has_failed(answer) else ""
    if not text.strip():
        return None
    cwd = event.get("cwd")
    where = cwd if isinstance(cwd, str) else ""
    names = _storable(tool)[:_MAX_NAME], _storable(session)[:_MAX_NAME]
    return Failure(*names, _storable(text), _storable(where)[:_MAX_RAW], not uncertain)


def error_of_output(text: str, is_known: Callable[[str], bool]) -> str:
    """The normalised error by which a tool's output is stored; empty if the output has none.

    It is the first error line that the history knows, else the first error line, else the whole output as one line."""
    shown = _EXIT_LINE.sub("", text)
    whole = normalize_error(shown) or normalize_error(text)
    errors = dict.fromkeys((*_error_lines(shown), whole))
    return next((error for error in errors if is_known(error)), next(iter(errors)))


def _error_lines(text: str) -> tuple[str, ...]:
    try:
        from bot.rules.failures.errors import fingerprints
    except ImportError:  # without the packages that it needs, as in some sandboxes, the whole text must do
        return ()
    return fingerprints(text)[:_MAX_MARKS]


def _has_failed(answer: Any) -> bool:
    if not isinstance(answer, dict) or answer.get("interrupted") is True:
        return False
    if answer.get("is_error") is True or answer.get("isError") is True or answer.get("success") is False:
        return True
    codes = [answer[name] for name in _CODES if type(answer.get(name)) is int]
    text = answer.get("llmContent")
    printed = _EXIT_CODE.findall(text) if isinstance(text, str) else []
    return any(codes) or any(code != "0" for code in printed[-1:])


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value[:_MAX_TEXT]
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text_of, value[:50])))[:_MAX_TEXT]
    if not isinstance(value, Mapping):
        return ""
    return "\n".join(filter(None, (_text_of(value.get(name)) for name in _TEXTS)))[:_MAX_TEXT]


def _storable(text: str) -> str:
    """The text without lone surrogates, which no file and no database can store."""
    return text.encode("utf-8", "replace").decode()


def _record(failure: Failure) -> None:
    """Writes to the spool if there is one, as in a sandbox, else to the events of the home's database."""
    spool = hook.spool()
    if os.path.lexists(spool):
        _append(spool, failure)
        return
    address = f"file:{hook.quoted(os.path.realpath(hook.database()))}?mode=rw"  # a missing one is not created
    with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_TIMEOUT_S)) as connection:
        text = Redactor().mask(failure.text)
        error = error_of_output(text, _known_in(connection))
        if not error or not (failure.certain or _known_in(connection)(error)):
            return
        data = json.dumps({"tool": failure.tool, "error": error, "errorRaw": text[:_MAX_RAW]}, ensure_ascii=False)
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
        if not stat.S_ISREG(status.st_mode) or status.st_size + MAX_LINE > MAX_SPOOL:
            return
        error = error_of_output(failure.text, _known_in_snapshot)
        if failure.certain or _known_in_snapshot(error):
            os.write(descriptor, _line(failure, error))
    finally:
        os.close(descriptor)


def _line(failure: Failure, error: str) -> bytes:
    """A line of the spool, of at most MAX_LINE bytes: the raw text is cut to fit."""
    values = {"tool": failure.tool[:100], "error": error, "session_id": failure.session_id, "ts": _now()}
    space = MAX_LINE - len(json.dumps({**values, "errorRaw": ""}, ensure_ascii=False).encode()) - 1
    raw = failure.text
    while len(json.dumps(raw, ensure_ascii=False).encode()) - 2 > max(0, space):
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
        return False  # a failure is recorded without a snapshot, too


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")  # as `store.history.history` writes times


if __name__ == "__main__":
    main()
