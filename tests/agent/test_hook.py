"""The hook as agents run it: a real process, a real database, its output to the letter and its exit code always 0."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.agent import hook
from bot.model import Resolution
from bot.store.database import Database
from bot.store.history import History

HOOK = Path(hook.__file__)
BARE = (sys.executable, "-I", "-S", str(HOOK))
THROUGH_THE_BOT = (sys.executable, "-m", "bot", "hook", "pre-tool")
SEED = """
CREATE TABLE events (id INTEGER PRIMARY KEY, v INTEGER DEFAULT 1, type TEXT, ts TEXT, session_id TEXT, project TEXT,
                     project_path TEXT, data JSON);
CREATE TABLE error_kb (id INTEGER PRIMARY KEY, ts TEXT, error_normalized TEXT UNIQUE, error_raw TEXT, resolution JSON,
                       resolved_by TEXT, tool_sequence TEXT, use_count INTEGER DEFAULT 1, last_used TEXT);
"""
RESOLVED = json.dumps({"resolvedBy": "success_after_error", "tool": "Bash", "toolSequence": ["Read", "Edit", "Bash"]})


class Seeded:
    """A database with the seed's two tables alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.executescript(SEED)

    def known(self, error: str, resolution: object = RESOLVED, last_used: str = "2026-01-01T00:00:00.000Z") -> None:
        query = "INSERT INTO error_kb (ts, error_normalized, resolution, last_used) VALUES ('t', ?, ?, ?)"
        self._database.execute(query, (error, resolution, last_used))

    def failed(self, error: str, ts: str = "1", session: str = "s1", tool: str = "Bash") -> None:
        query = "INSERT INTO events (type, ts, session_id, data) VALUES ('tool_error', ?, ?, ?)"
        self._database.execute(query, (ts, session, json.dumps({"tool": tool, "error": error})))

    def close(self) -> None:
        self._database.close()


@pytest.fixture
def seeded(tmp_path: Path) -> Iterator[Seeded]:
    database = Seeded(tmp_path / "mendbot.db")
    yield database
    database.close()


def raw(stdin: bytes, home: Path, argv: tuple[str, ...] = BARE, **env: str) -> bytes:
    result = subprocess.run(
        argv,
        input=stdin,
        capture_output=True,
        env={"PATH": os.environ["PATH"], "MENDBOT_HOME": str(home), **env},
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout


def said(request: Mapping[str, object], home: Path, **env: str) -> list[str]:
    """The lines of guidance; [] for no output at all."""
    output = raw(json.dumps(request).encode(), home, **env)
    if not output:
        return []
    answer = json.loads(output)
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert answer == {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": context}}
    return str(context).split("\n")


def edit(path: str = "/project/src/index.ts", tool: str = "Edit") -> dict[str, object]:
    return {"session_id": "s1", "tool_name": tool, "tool_input": {"file_path": path, "content": "x"}}


def bash(session: str = "s1") -> dict[str, object]:
    return {"session_id": session, "tool_name": "Bash", "tool_input": {"command": "make"}}


@pytest.mark.parametrize("tool", ["Edit", "Write"])
def test_a_past_error_of_the_file_in_the_seeds_words(seeded: Seeded, tool: str) -> None:
    seeded.known("TypeError: x is undefined in index.ts")
    assert said(edit(tool=tool), seeded.path.parent, MENDBOT_LANGUAGE="ko") == [
        "⚠️ 이 파일 관련 과거 에러: TypeError: x is undefined in index.ts",
        "해결 방법: success_after_error (Bash)",
        "해결 경로: Read → Edit → Bash",
    ]


def test_the_sessions_error_in_the_seeds_words(seeded: Seeded) -> None:
    seeded.known("make: no rule")
    seeded.failed("make: no rule")
    assert said(bash(), seeded.path.parent, MENDBOT_LANGUAGE="ko") == [
        "💡 이 세션에서 Bash 에러 발생 이력: make: no rule",
        "이전 해결 경로: Read → Edit → Bash",
    ]


def test_english_is_the_default(seeded: Seeded) -> None:
    seeded.known("boom in index.ts")
    seeded.failed("boom in index.ts")
    assert said(edit(), seeded.path.parent) == [
        "⚠️ Past error involving this file: boom in index.ts",
        "How it was resolved: success_after_error (Bash)",
        "Path to the resolution: Read → Edit → Bash",
    ]
    assert said(bash(), seeded.path.parent) == [
        "💡 A Bash error occurred earlier in this session: boom in index.ts",
        "Path to the earlier resolution: Read → Edit → Bash",
    ]


def test_the_two_most_recently_used_and_only_what_was_resolved(seeded: Seeded) -> None:
    for day in (3, 1, 5, 2):
        seeded.known(f"error {day} in index.ts", last_used=f"2026-01-0{day}")
    seeded.known("unresolved in index.ts", None, last_used="2026-01-09")
    heads = [line for line in said(edit(), seeded.path.parent) if line.startswith("⚠️")]
    assert [head.split(": ")[1] for head in heads] == ["error 5 in index.ts", "error 3 in index.ts"]


@pytest.mark.parametrize(
    ("resolution", "lines"),
    [
        ("pinned numpy < 2", ["How it was resolved: pinned numpy < 2"]),
        ('{"broken', ['How it was resolved: {"broken']),
        ('"a string"', ["How it was resolved: a string"]),
        ('{"resolvedBy": "ada"}', ["How it was resolved: ada"]),
        ('{"resolvedBy": "ada", "how": "pinned numpy"}', ["How it was resolved: ada: pinned numpy"]),
        ('{"toolSequence": ["Edit"]}', ["Path to the resolution: Edit"]),
        ('{"toolSequence": "Edit"}', ["Path to the resolution: Edit"]),
        ("{}", []),
        ("null", []),
        (7, ["How it was resolved: 7"]),
    ],
)
def test_whatever_a_resolution_looks_like(seeded: Seeded, resolution: object, lines: list[str]) -> None:
    seeded.known("index.ts", resolution)
    assert said(edit(), seeded.path.parent) == ["⚠️ Past error involving this file: index.ts", *lines]


def test_percent_and_underscore_are_no_wildcards(seeded: Seeded) -> None:
    seeded.known("in axb.ts")
    seeded.known("in 100 percent.ts")
    assert said(edit("/p/a_b.ts"), seeded.path.parent) == []
    assert said(edit("/p/100%.ts"), seeded.path.parent) == []
    seeded.known("in a_b.ts")
    assert len(said(edit("/p/a_b.ts"), seeded.path.parent)) == 3


def test_bash_is_told_of_the_latest_bash_error_of_its_session_alone(seeded: Seeded) -> None:
    home = seeded.path.parent
    for error in ("old", "latest", "other session", "other tool"):
        seeded.known(error)
    seeded.failed("old", ts="1")
    seeded.failed("latest", ts="2")
    seeded.failed("other session", ts="3", session="s2")
    seeded.failed("other tool", ts="4", tool="Edit")
    assert said(bash(), home)[0].endswith(": latest")
    assert said(bash("s3"), home) == []
    seeded.failed("latest, but not to the letter", ts="5")
    assert said(bash(), home) == []


@pytest.mark.parametrize("tool", ["Task", "Read", "Grep", "MultiEdit", "edit", ""])
def test_other_tools_hear_nothing(seeded: Seeded, tool: str) -> None:
    seeded.known("index.ts")
    seeded.failed("index.ts")
    assert said(edit(tool=tool), seeded.path.parent) == []


@pytest.mark.parametrize("path", ["", "/", "src/", "/project/src/unrelated.ts"])
def test_a_file_without_a_history_hears_nothing(seeded: Seeded, path: str) -> None:
    seeded.known("index.ts")
    assert said(edit(path), seeded.path.parent) == []


def test_two_megabytes_of_input_and_a_windows_path(seeded: Seeded) -> None:
    seeded.known("index.ts")
    request = {"tool_name": "Write", "tool_input": {"content": "\ud800é" * 400_000, "file_path": "C:\\p\\index.ts"}}
    assert len(json.dumps(request)) > 2_000_000
    assert len(said(request, seeded.path.parent)) == 3


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"7",
        b"\xff\xfe",
        b"{" * 100_000,
        b"[" * 3_000 + b"]" * 3_000,
        b"\0",
        b'{"tool_name":7}',
    ]
    + [json.dumps({"tool_name": "Edit", "tool_input": given}).encode() for given in (None, [], "x", {"file_path": 7})]
    + [json.dumps({"tool_name": "Bash", "session_id": given}).encode() for given in (None, [], 7)],
)
def test_broken_input_says_nothing(seeded: Seeded, stdin: bytes) -> None:
    seeded.known("index.ts")
    assert raw(stdin, seeded.path.parent) == b""


_JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))
_REQUEST = st.fixed_dictionaries(
    {"tool_name": st.sampled_from(["Edit", "Write", "Bash", "Task"]) | _JSON, "session_id": _JSON},
    optional={"tool_input": st.fixed_dictionaries({"file_path": _JSON}) | _JSON},
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_REQUEST)
@example({"tool_name": "Edit", "session_id": "s", "tool_input": {"file_path": '/"; DROP TABLE error_kb; --'}})
def test_no_request_makes_it_fail(seeded: Seeded, request: dict[str, Any]) -> None:
    said(request, seeded.path.parent)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n"), max_size=300))
@example('"\\\u2028\x07\x1b[31m')
def test_what_is_known_comes_out_as_it_went_in(tmp_path: Path, text: str) -> None:
    database = tmp_path / "known.db"
    database.unlink(missing_ok=True)
    seeded = Seeded(database)
    seeded.known(f"index.ts {text}", "{" + text)
    lines = said(edit(), tmp_path, MENDBOT_DATABASE_URL=f"sqlite:///{database}")
    assert lines == [f"⚠️ Past error involving this file: index.ts {text}", f"How it was resolved: {{{text}"]
    seeded.close()


def test_a_database_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    request = json.dumps(edit()).encode()
    assert raw(request, tmp_path / "nowhere") == b""
    assert list(tmp_path.iterdir()) == []
    database = tmp_path / "mendbot.db"
    for content in (b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\2" * 4000):
        database.write_bytes(content)
        assert raw(request, tmp_path) == b""
        assert database.read_bytes() == content
    database.unlink()
    database.mkdir()
    assert raw(request, tmp_path) == b""
    assert raw(request, tmp_path, MENDBOT_DATABASE_URL="postgresql://nobody@127.0.0.1:1/none") == b""


def test_a_torn_database_says_nothing(seeded: Seeded) -> None:
    for number in range(500):
        seeded.known(f"{number} index.ts {'x' * 100}")
    seeded.close()
    content = bytearray(seeded.path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    seeded.path.write_bytes(content)
    assert raw(json.dumps(edit()).encode(), seeded.path.parent) == b""


def test_a_locked_database_says_nothing_and_soon(seeded: Seeded) -> None:
    seeded.known("index.ts")
    lock = sqlite3.connect(seeded.path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    assert said(edit(), seeded.path.parent) == []
    lock.close()
    assert len(said(edit(), seeded.path.parent)) == 3


def test_silenced(seeded: Seeded) -> None:
    seeded.known("index.ts")
    assert said(edit(), seeded.path.parent, MENDBOT_ENABLED="false") == []
    assert len(said(edit(), seeded.path.parent, MENDBOT_ENABLED="true")) == 3


def test_it_gives_up_where_the_input_never_ends(seeded: Seeded) -> None:
    began = time.monotonic()
    with subprocess.Popen(BARE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.wait(30) == 0
        assert time.monotonic() - began >= hook.DEADLINE_S
        assert process.stdout is not None and process.stdout.read() == b""
        assert process.stderr is not None and process.stderr.read() == b""


@contextmanager
def own(home: Path) -> Iterator[History]:
    database = Database(f"sqlite:///{home / 'mendbot.db'}")
    database.migrate()
    try:
        yield History(database)
    finally:
        database.close()


ADA = Resolution(resolved_by="ada", tool="Edit", tool_sequence=("Read", "Edit"))


def test_the_bots_own_database_while_it_is_open_and_after(tmp_path: Path) -> None:
    with own(tmp_path) as history:
        asyncio.run(history.record("/a/b/index.ts(3,4): error TS2345: no", ADA, paths=["lib/myindex.ts"]))
        asyncio.run(history.record("/a/b/myindex.ts(3,4): error TS2345: yes", ADA))
        asyncio.run(history.tool_error("s1", "Bash", "/elsewhere/index.ts(9,9): error TS2345: no"))
        lines = said(edit(), tmp_path)
        assert lines == [
            "⚠️ Past error involving this file: <PATH>/index.ts(<POS>): error TS2345: no",
            "How it was resolved: ada (Edit)",
            "Path to the resolution: Read → Edit",
        ]
        link = tmp_path / "link.db"
        link.symlink_to("mendbot.db")
        assert said(edit(), tmp_path, MENDBOT_DATABASE_URL=f"sqlite:///{link}") == lines, "its log was not read"
        link.unlink()
        assert said(bash(), tmp_path)[1:] == ["Path to the earlier resolution: Read → Edit"]
    assert said(edit(), tmp_path) == lines
    assert len(said(edit("x/myindex.ts"), tmp_path)) == 6
    assert [path.name for path in tmp_path.iterdir()] == ["mendbot.db"], "it left files beside the database"


def test_rows_that_another_program_wrote_are_found_too(tmp_path: Path) -> None:
    with own(tmp_path) as history:
        asyncio.run(history.record("index.ts: oldest", ADA))
        asyncio.run(asyncio.sleep(0.002))  # the history tells times apart by the millisecond
        asyncio.run(history.record("index.ts: older", ADA))
        with sqlite3.connect(tmp_path / "mendbot.db") as database:
            query = "INSERT INTO error_kb (ts, error_normalized, resolution, last_used) VALUES ('t', ?, ?, ?)"
            database.execute(query, ("foreign in index.ts", "by hand", "2999-01-01"))
        database.close()
        heads = [line for line in said(edit(), tmp_path) if line.startswith("⚠️")]
        assert [head.split(": ", 1)[1] for head in heads] == ["foreign in index.ts", "index.ts: older"]
        assert asyncio.run(history.adopt()) == 1
        assert asyncio.run(history.adopt()) == 0
        assert len(said(edit(), tmp_path)) == 5  # adopted, and still the latest


def test_a_side_table_of_two_columns(seeded: Seeded) -> None:
    with sqlite3.connect(seeded.path) as database:
        database.execute("CREATE TABLE error_files (file_name TEXT, kb_id INTEGER)")
        database.execute("INSERT INTO error_files VALUES ('index.ts', 1)")
    database.close()
    seeded.known("its text names no file")
    seeded.known("myindex.ts")
    assert said(edit(), seeded.path.parent)[0].endswith(": its text names no file")
    assert said(edit("myindex.ts"), seeded.path.parent) == []


def test_every_lookup_of_the_bots_own_database_uses_an_index(tmp_path: Path) -> None:
    with own(tmp_path):
        pass
    database = sqlite3.connect(tmp_path / "mendbot.db")
    for query, values in (
        (hook.BY_FILE[0][0], ("a", "b")),
        (hook.BY_FILE[0][1], ("a", "b")),
        (hook.SESSION_ERROR, ("s",)),
        (hook.BY_TEXT, ("x",)),
    ):
        plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {query}", values)]
        assert not [step for step in plan if step.startswith("SCAN") and "(subquery" not in step], plan
        assert [step for step in plan if "USING" in step and "INDEX" in step], plan
    database.close()


def imported(argv: tuple[str, ...], home: Path) -> set[str]:
    result = subprocess.run(
        (argv[0], "-X", "importtime", *argv[1:]),
        input=json.dumps(edit()).encode(),
        capture_output=True,
        env={"PATH": os.environ["PATH"], "MENDBOT_HOME": str(home)},
        check=True,
    )
    assert result.stdout
    return {line.rpartition("|")[2].strip() for line in result.stderr.decode().splitlines() if "import time:" in line}


def test_it_imports_nothing_it_does_not_need(seeded: Seeded) -> None:
    seeded.known("index.ts")
    modules = imported(BARE, seeded.path.parent)
    assert "sqlite3" in modules
    assert not modules & {"json", "re", "typing", "pathlib", "enum", "logging", "asyncio", "site", "bot"}
    through = imported(THROUGH_THE_BOT, seeded.path.parent)
    assert not {name for name in through if name.split(".")[0] in ("cyclopts", "pydantic", "sqlalchemy", "asyncio")}
    assert {name for name in through if name.startswith("bot")} == {"bot", "bot.agent", "bot.agent.hook"}


def test_the_command_says_what_the_script_says(seeded: Seeded) -> None:
    seeded.known("index.ts")
    request = json.dumps(edit()).encode()
    home = seeded.path.parent
    assert raw(request, home, THROUGH_THE_BOT) == raw(request, home) != b""
    assert raw(b"{", home, THROUGH_THE_BOT) == b""
