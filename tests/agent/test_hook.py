"""The hook as agents run it: a real process, a real database, its output to the letter and its exit code always 0."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.agent import hook
from tests.agent.hook_process import BARE, THROUGH_THE_BOT, Seeded, bash, edit, raw, said
from tests.machine import PATIENCE_S


@pytest.fixture
def seeded(tmp_path: Path) -> Iterator[Seeded]:
    database = Seeded(tmp_path / "mendbot.db")
    yield database
    database.close()


@pytest.mark.parametrize("tool", ["Edit", "Write"])
def test_a_past_error_of_the_file_in_the_seeds_words(seeded: Seeded, tool: str) -> None:
    """REQ-RA-301."""
    seeded.known("TypeError: x is undefined in index.ts")
    assert said(edit(tool=tool), seeded.path.parent, MENDBOT_LANGUAGE="ko") == [
        "⚠️ 이 파일 관련 과거 에러: TypeError: x is undefined in index.ts",
        "해결 방법: success_after_error (Bash)",
        "해결 경로: Read → Edit → Bash",
    ]


def test_the_sessions_error_in_the_seeds_words(seeded: Seeded) -> None:
    """REQ-RA-302."""
    seeded.known("make: no rule")
    seeded.failed("make: no rule")
    assert said(bash(), seeded.path.parent, MENDBOT_LANGUAGE="ko") == [
        "💡 이 세션에서 Bash 에러 발생 이력: make: no rule",
        "이전 해결 경로: Read → Edit → Bash",
    ]


@pytest.mark.parametrize(
    "resolution",
    ['{"resolvedBy": "success_after_error", "tool": "Bash"}', '{"resolvedBy": "ada", "how": "pinned numpy"}',
     '{"toolSequence": []}', '{"toolSequence": null}', "{}", "null", "pinned numpy < 2", '{"broken', '"a string"', 7],
)  # fmt: skip
def test_before_bash_a_resolution_without_a_path_adds_nothing(seeded: Seeded, resolution: object) -> None:
    """REQ-RA-302: the seed has the error and `이전 해결 경로`, and no `해결 방법`."""
    seeded.known("make: no rule", resolution)
    seeded.failed("make: no rule")
    assert said(bash(), seeded.path.parent, MENDBOT_LANGUAGE="ko") == [
        "💡 이 세션에서 Bash 에러 발생 이력: make: no rule"
    ]


def test_english_is_the_default(seeded: Seeded) -> None:
    """REQ-RA-304."""
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
    """REQ-RA-301."""
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
        ('{"tool": "Bash"}', []),
        ('{"toolSequence": ["Edit"]}', ["Path to the resolution: Edit"]),
        ('{"toolSequence": "Edit"}', ["Path to the resolution: Edit"]),
        ("{}", []),
        ("null", []),
        (7, ["How it was resolved: 7"]),
    ],
)
def test_whatever_a_resolution_looks_like(seeded: Seeded, resolution: object, lines: list[str]) -> None:
    """REQ-RA-301."""
    seeded.known("index.ts", resolution)
    assert said(edit(), seeded.path.parent) == ["⚠️ Past error involving this file: index.ts", *lines]


def test_percent_and_underscore_are_no_wildcards(seeded: Seeded) -> None:
    """REQ-RA-301."""
    seeded.known("in axb.ts")
    seeded.known("in 100 percent.ts")
    assert said(edit("/p/a_b.ts"), seeded.path.parent) == []
    assert said(edit("/p/100%.ts"), seeded.path.parent) == []
    seeded.known("in a_b.ts")
    assert len(said(edit("/p/a_b.ts"), seeded.path.parent)) == 3


def test_bash_is_told_of_the_latest_bash_error_of_its_session_alone(seeded: Seeded) -> None:
    """REQ-RA-302."""
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


@pytest.mark.parametrize("tool", ["Task", "Read", "Grep", "MultiEdit", "EDIT", ""])
def test_other_tools_hear_nothing(seeded: Seeded, tool: str) -> None:
    """REQ-RA-303."""
    seeded.known("index.ts")
    seeded.failed("index.ts")
    assert said(edit(tool=tool), seeded.path.parent) == []


@pytest.mark.parametrize("path", ["", "/", "src/", "/project/src/unrelated.ts"])
def test_a_file_without_a_history_hears_nothing(seeded: Seeded, path: str) -> None:
    """REQ-RA-301, REQ-RA-304."""
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
    """REQ-RA-305."""
    seeded.known("index.ts")
    assert raw(stdin, seeded.path.parent) == b""


_JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))
_REQUEST = st.fixed_dictionaries(
    {"tool_name": st.sampled_from(["Edit", "Write", "Bash", "Task"]) | _JSON, "session_id": _JSON},
    optional={"tool_input": st.fixed_dictionaries({"file_path": _JSON}) | _JSON},
)


@settings(max_examples=25)
@given(_REQUEST)
@example({"tool_name": "Edit", "session_id": "s", "tool_input": {"file_path": '/"; DROP TABLE error_kb; --'}})
def test_no_request_makes_it_fail(seeded: Seeded, request: dict[str, Any]) -> None:
    said(request, seeded.path.parent)


@settings(max_examples=25)
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
    """REQ-RA-305."""
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
    """REQ-RA-305."""
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
        assert process.wait(PATIENCE_S) == 0
        assert time.monotonic() - began >= hook.DEADLINE_S
        assert process.stdout is not None and process.stdout.read() == b""
        assert process.stderr is not None and process.stderr.read() == b""


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
    """REQ-RA-306."""
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
