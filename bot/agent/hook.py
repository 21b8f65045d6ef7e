"""The PreToolUse hook of coding agents: shows, before a tool runs, how the same error was resolved last time (spec E).

An agent waits for it each time, so it imports almost nothing and lets SQLite read and write the JSON. If anything is
wrong it prints nothing and exits 0."""

# no `from __future__ import annotations`: it is a file to load, like any module (performance.md, *pre-tool hook*)
import os
import sys

TYPE_CHECKING = False  # as in `typing`, which is too much to import
if TYPE_CHECKING:
    import sqlite3
    from _thread import LockType
    from typing import NoReturn

DEADLINE_S = 1.5
"""Seconds after which the process ends without output: the seed allows two."""
BUSY_TIMEOUT_S = 0.1
MAX_INPUT = 64 * 1024 * 1024
SPOOL = "spool.jsonl"
"""The failures of this run, one a line, beside the sandbox's database, which nothing there can write."""
_LATEST_BYTES = 64 * 1024
TOOLS = {
    "apply_patch": "Edit",  # Codex
    "edit": "Edit",  # Qwen Code
    "replace": "Edit",  # Gemini CLI
    "run_shell_command": "Bash",
    "write_file": "Write",
}
"""Tools of other agents, by Claude Code's name of the same."""
_MAX_FILES = 3
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")
MAX_SHOWN = 2_000
"""Characters of one item: the database's content is untrusted and goes to an agent."""

SENTENCES = {
    # the seed's, to the letter (REQ-RA-301, REQ-RA-302)
    "ko": {
        "file": "⚠️ 이 파일 관련 과거 에러: ",
        "session": "💡 이 세션에서 Bash 에러 발생 이력: ",
        "how": "해결 방법: ",
        "path": "해결 경로: ",
        "earlier": "이전 해결 경로: ",
    },
    "en": {
        "file": "⚠️ Past error involving this file: ",
        "session": "💡 A Bash error occurred earlier in this session: ",
        "how": "How it was resolved: ",
        "path": "Path to the resolution: ",
        "earlier": "Path to the earlier resolution: ",
    },
}

_REQUEST = (
    "SELECT json_extract(?1, '$.tool_name'), "
    "coalesce(json_extract(?1, '$.tool_input.file_path'), json_extract(?1, '$.tool_input.command')), "
    "json_extract(?1, '$.session_id')"
)
_LIKE = """
    SELECT error_normalized, resolution, last_used FROM error_kb
    WHERE ?1 IS NOT NULL AND error_normalized LIKE ?2 ESCAPE '\\' AND resolution IS NOT NULL
    ORDER BY last_used DESC LIMIT 2
"""
# tried in this order until the tables and columns exist; ?1 is the file's base name, ?2 the pattern around it
BY_FILE = (
    # our own schema; rows of another program have no loose key and no file: they are few, and searched as by the seed
    (
        """
        SELECT k.error_normalized, k.resolution, f.last_used
        FROM error_files f CROSS JOIN error_kb k ON k.id = f.kb_id
        WHERE f.file_name = ?1 AND ?2 IS NOT NULL AND k.resolution IS NOT NULL ORDER BY f.last_used DESC LIMIT 2
        """,
        _LIKE.replace("WHERE", "WHERE loose_key IS NULL AND"),
    ),
    # a side table of two columns
    (
        """
        SELECT k.error_normalized, k.resolution, k.last_used FROM error_files f JOIN error_kb k ON k.id = f.kb_id
        WHERE f.file_name = ?1 AND ?2 IS NOT NULL AND k.resolution IS NOT NULL ORDER BY k.last_used DESC LIMIT 2
        """,
    ),
    # the seed's two tables alone
    (_LIKE,),
)
SESSION_ERROR = (
    "SELECT json_extract(data, '$.error') FROM events WHERE type = 'tool_error' AND session_id = ? "
    "AND json_extract(data, '$.tool') = 'Bash' ORDER BY ts DESC LIMIT 1"
)
_SPOOLED = (
    "SELECT json_extract(line, '$.error') FROM (SELECT CASE WHEN json_valid(?1) THEN ?1 ELSE '{}' END AS line) "
    "WHERE json_extract(line, '$.tool') = 'Bash' AND json_extract(line, '$.session_id') = ?2"
)
BY_TEXT = (
    "SELECT error_normalized, resolution FROM error_kb WHERE error_normalized = ? AND resolution IS NOT NULL LIMIT 1"
)
_RESOLUTION = (
    "SELECT json_type(?1), json_extract(?1, '$'), json_extract(?1, '$.resolvedBy'), json_extract(?1, '$.tool'), "
    "json_extract(?1, '$.how')"
)
_STEPS = "SELECT value FROM json_each(?1, '$.toolSequence') WHERE value IS NOT NULL"
_ANSWER = (
    "SELECT json_object('hookSpecificOutput', json_object('hookEventName', 'PreToolUse', 'additionalContext', ?1))"
)


def main() -> "NoReturn":
    """Reads the request on stdin, answers on stdout, and exits 0 whatever happens (REQ-RA-304, REQ-RA-305)."""
    try:
        answer = _answer()
        if answer:
            sys.stdout.buffer.write(answer)
            sys.stdout.buffer.flush()
    except Exception:  # noqa: S110  # REQ-RA-305: broken input, no database, a corrupt or a locked one
        pass
    finally:
        os._exit(0)  # the interpreter's own shutdown would cost a tenth of the time


def is_silenced() -> bool:
    """Whether the operator turned the hook off (contract, *Environment*)."""
    return os.environ.get("MENDBOT_ENABLED", "").strip().lower() in ("false", "0", "no", "off")


def _answer() -> bytes:
    if is_silenced():
        return b""
    guard = exit_at_deadline(DEADLINE_S)
    import sqlite3  # here, as its absence must not be an error either

    request = sys.stdin.buffer.read(MAX_INPUT)
    connection = sqlite3.connect(address(database()), timeout=BUSY_TIMEOUT_S, uri=True, isolation_level=None)
    connection.text_factory = _text
    tool, path, session = connection.execute(_REQUEST, (_text(request).lstrip("\ufeff"),)).fetchone()
    labels = SENTENCES["ko" if os.environ.get("MENDBOT_LANGUAGE", "").lower().startswith("ko") else "en"]
    items: list[str] = []
    tool = TOOLS.get(tool, tool)
    if tool in ("Edit", "Write") and isinstance(path, str):
        items = [item for each in _files(path) for item in _about_file(connection, each, labels)]
    elif tool == "Bash" and isinstance(session, str):
        items = _about_session(connection, session, labels)
    if not items:
        return b""
    answer = connection.execute(_ANSWER, ("\n".join(item[:MAX_SHOWN] for item in items),)).fetchone()[0]
    in_time = guard.acquire(blocking=False)  # from here on it is too late to be silent
    return str(answer).encode() + b"\n" if in_time else b""


def _files(path: str) -> list[str]:
    """The path alone, or the first files of a patch in its place."""
    if not path.startswith("*** Begin Patch"):
        return [path]
    lines = path.split("\n")
    return [line[len(mark) :] for line in lines for mark in _PATCHED if line.startswith(mark)][:_MAX_FILES]


def _about_file(connection: "sqlite3.Connection", path: str, labels: dict[str, str]) -> list[str]:
    name = path.replace("\\", "/").rpartition("/")[2]
    if not name:
        return []
    pattern = "%" + name.replace("%", "\\%").replace("_", "\\_") + "%"
    items: list[str] = []
    for error, resolution, _ in _first_supported(connection, (name, pattern)):
        how, steps = _resolution(connection, resolution)
        items.append(labels["file"] + error)
        items += [labels["how"] + how] if how else []
        items += [labels["path"] + steps] if steps else []
    return items


def _about_session(connection: "sqlite3.Connection", session: str, labels: dict[str, str]) -> list[str]:
    latest = _spooled(connection, session) or connection.execute(SESSION_ERROR, (session,)).fetchone()
    known = connection.execute(BY_TEXT, latest).fetchone() if latest else None
    if known is None:
        return []
    _, steps = _resolution(connection, known[1])
    return [labels["session"] + known[0], *([labels["earlier"] + steps] if steps else [])]


def _spooled(connection: "sqlite3.Connection", session: str) -> "tuple[object] | None":
    """The session's latest Bash error in the spool, if there is one: untrusted, as the sandbox wrote it."""
    lines = tail(spool(), _LATEST_BYTES).split(b"\n")
    found = (connection.execute(_SPOOLED, (_text(line), session)).fetchone() for line in reversed(lines) if line)
    return next((row for row in found if row), None)


def _first_supported(connection: "sqlite3.Connection", values: tuple[str, str]) -> "list[tuple[str, object, object]]":
    """The rows of the first of BY_FILE whose tables and columns exist."""
    for queries in BY_FILE:
        try:
            rows = [row for query in queries for row in connection.execute(query, values)]
        except Exception as error:
            if "no such" not in str(error):
                raise
        else:
            return sorted(rows, key=lambda row: str(row[2] or ""), reverse=True)[:2]
    return []


def _resolution(connection: "sqlite3.Connection", raw: object) -> tuple[str, str]:
    """The description and the steps of a resolution; one that isn't a JSON object is returned as it is."""
    try:
        kind, whole, by, tool, how = connection.execute(_RESOLUTION, (str(raw),)).fetchone()
    except Exception as error:
        if "malformed JSON" not in str(error):
            raise
        return str(raw), ""
    if kind != "object":
        return "" if whole is None else str(whole), ""
    steps = " → ".join(str(value) for (value,) in connection.execute(_STEPS, (raw,)))
    who = " ".join([*([str(by)] if by else []), *([f"({tool})"] if tool and (by or how) else [])])
    return ": ".join(part for part in (who, str(how or "")) if part), steps


def database() -> str:
    """The path of the bot's SQLite database (contract, *Environment*); LookupError for another kind of database."""
    url = os.environ.get("MENDBOT_DATABASE_URL", "")
    if url:
        scheme, _, path = url.partition(":///")
        if scheme.partition("+")[0] != "sqlite":
            raise LookupError("only SQLite can be read without a driver")
        return path.partition("?")[0]
    home = os.environ.get("MENDBOT_HOME")
    if not home:
        data = os.environ.get("XDG_DATA_HOME", "")
        data = data if data.startswith("/") else os.path.expanduser("~/.local/share")  # noqa: PTH111
        home = f"{data}/mendbot"
    return f"{home}/mendbot.db"


def spool() -> str:
    """The path of the spool, which may be missing."""
    return f"{database().rpartition('/')[0] or '.'}/{SPOOL}"


def tail(path: str, limit: int) -> bytes:
    """The last `limit` bytes of a regular file; b"" if the path names none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        status = os.fstat(descriptor)
        if status.st_mode & 0o170000 != 0o100000:  # S_ISREG (inode(7)), without its module
            return b""
        return os.pread(descriptor, limit, max(0, status.st_size - limit))
    finally:
        os.close(descriptor)


def address(path: str) -> str:
    """The URI by which that database is read (sqlite.org/uri.html) without creating files beside it.

    A database in WAL mode without its log has no writer at the moment, so it needs no lock. A lock would create two
    files beside it, which is impossible in a sandbox and litter elsewhere."""
    path = os.path.realpath(path)  # the log lies beside the file that a link points to
    with open(path, "rb") as file:  # noqa: PTH123  # pathlib is too much to import
        is_wal = file.read(20)[18:] == b"\2\2"  # read and write version (sqlite.org/fileformat.html, 1.3.3)
    alone = is_wal and not os.path.exists(f"{path}-wal")  # noqa: PTH110
    return f"file:{quoted(path)}?mode=ro" + ("&immutable=1" if alone else "")


def quoted(path: str) -> str:
    """The path with the escapes that such a URI needs."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def exit_at_deadline(seconds: float) -> "LockType":
    """Starts a timer that ends the process, unless the returned lock is acquired in time."""
    import _thread

    lock = _thread.allocate_lock()

    def watch() -> None:
        import time

        time.sleep(seconds)
        if lock.acquire(blocking=False):
            os._exit(0)

    _thread.start_new_thread(watch, ())
    return lock


if __name__ == "__main__":
    main()
