"""`mendbot history`: asked, told and carried over as a person would, with the exit codes of the contract."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.model.guidance_trial import TriedGuidance
from bot.store.database.database import Database
from bot.store.history.history import History
from bot.store.history.import_export import MAX_LINE
from bot.store.history.trials import GuidanceTrials

ROOT = Path(__file__).parents[2]
SECRET = "operator-secret-0123456789-abcdef"
RECORD = ("record", "--error", "/home/x/src/a.py:3: boom in 5", "--how", "pinned it")


class Mendbot:
    """The commands on a home of the test's own, in this process; `process` starts a real one."""

    def __init__(self, home: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.home, self._capture = home, capture

    def __call__(self, *args: str) -> tuple[int, str, str]:
        self._capture.readouterr()
        code = main(["history", *args])
        said = self._capture.readouterr()
        return code, said.out, said.err

    def json(self, *args: str) -> list[dict[str, Any]]:
        code, out, err = self(*args, "--json")
        (key, errors), = json.loads(out).items()  # fmt: skip
        assert (key, err, code) == ("errors", "", 0 if errors else 1)
        found: list[dict[str, Any]] = errors
        return found

    def process(self, *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "MENDBOT_HOME": str(self.home)}
        argv = [sys.executable, "-m", "bot", "history", *args]
        return subprocess.run(argv, input=stdin, capture_output=True, env=env, cwd=ROOT, timeout=60)


@pytest.fixture
def mendbot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Mendbot:
    for name in [name for name in os.environ if name.startswith("MENDBOT_")]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    monkeypatch.setenv("MENDBOT_HOME", str(home))
    return Mendbot(home, capsys)


def test_what_a_person_records_is_told_by_file_and_by_error(mendbot: Mendbot) -> None:
    options = ("--file", "lib/b.py", "--file", "c.py", "--tool", "Read", "--tool", "Edit", "--by", "ada")
    code, out, err = mendbot(*RECORD, *options, "--commit", "0123abc", "--repo", "octo/x")
    assert (code, out, err) == (0, "Recorded as resolution 1.\n", "")
    assert mendbot("elsewhere/a.py")[:2] == (
        0,
        "⚠️ Past error involving this file: /home/x/src/a.py:3: boom in 5\n"
        "How it was resolved: ada (Edit): pinned it\n"
        "Path to the resolution: Read → Edit\n"
        f"Used 1×, last on {mendbot.json('a.py')[0]['lastUsed'][:10]} · octo/x@0123abc\n",
    )
    assert mendbot.json("b.py") == mendbot.json("./c.py") == mendbot.json("--error", "/y/a.py:7: boom in 5")
    assert mendbot.json("--error", "/y/a.py:7: boom in 6")[0]["exact"] is False
    assert mendbot("d.py")[:2] == (1, "Nothing is known about it yet.\n")


def test_a_home_that_it_makes_is_its_users_alone(mendbot: Mendbot) -> None:
    """As the one that `serve` makes: the database has lines of logs and patches."""
    assert mendbot(*RECORD)[0] == 0
    assert mendbot.home.stat().st_mode & 0o777 == 0o700


def test_a_file_may_be_called_like_a_command(mendbot: Mendbot) -> None:
    mendbot("record", "--error", "-boom", "--how", "--so", "--file", "record", "--file", "-x.py")
    assert len(mendbot.json("./record")) == len(mendbot.json("--error", "-boom")) == 1
    assert mendbot("--", "-x.py")[0] == 0


def test_the_language_is_the_operators(mendbot: Mendbot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MENDBOT_LANGUAGE", "ko")
    assert "저장했습니다" in mendbot(*RECORD)[1]
    assert mendbot("a.py")[1].startswith("⚠️ 이 파일 관련 과거 에러: ")
    assert mendbot("b.py")[1] == "아직 알려진 것이 없습니다.\n"


def test_secrets_are_masked_before_they_are_stored(mendbot: Mendbot, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "ghp_" + "x" * 36
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("MENDBOT_AGENT_ENV", "MODEL_KEY")
    monkeypatch.setenv("MODEL_KEY", "model-key-0123456789")
    how = f"unset {token} and model-key-0123456789"
    mendbot("record", "--error", f"boom {SECRET} in a.py", "--how", how, "--file", f"{SECRET}.py", "--by", token)
    assert mendbot.json("a.py")[0]["resolution"]["how"] == "unset *** and ***"
    line = json.dumps({"error": "bang", "resolution": {"how": SECRET}, "lastUsed": "2026-01-01T00:00:00Z"})
    (mendbot.home / "lines").write_text(line)
    assert mendbot("import", str(mendbot.home / "lines"))[0] == 0
    stored = b"".join(path.read_bytes() for path in mendbot.home.glob("mendbot.db*"))
    assert not [secret for secret in (token, SECRET, "model-key-0123456789") if secret.encode() in stored]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "FILE"),
        (("a.py", "--error", "x"), "FILE"),
        (("src/",), "name of a file"),
        (("",), "name of a file"),
        (("--error", " \x1b[0m"), "no text"),
        (("--error", "x", "--error", "y"), "--error"),
        (("a.py", "b.py"), "b.py"),
        (("record", "--error", "x"), "--how"),
        (("record", "--error", "x", "--how", " "), "--how is empty"),
        (("record", "--error", "", "--how", "x"), "no text"),
        (("record", "--error", "x", "--how", "y", "--commit", "HEAD"), "SHA"),
        (("record", "--error", "x", "--how", "y", "--repo", "https://github.com/a/b"), "OWNER/NAME"),
        (("trial", "--repo", "x"), "OWNER/NAME"),
        (("import", "/nowhere/lines"), "No such file"),
        (("import", "/"), "directory"),
        (("import", "~nobody-at-all/lines"), "cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_exit_2_and_nothing_is_made(
    mendbot: Mendbot, args: tuple[str, ...], words: str
) -> None:
    code, out, err = mendbot(*args)
    assert (code, out) == (2, "")
    assert err.startswith("mendbot: ") and err.count("\n") == 1 and words in err
    assert not mendbot.home.exists()


def test_the_trial_of_guidance_is_shown_with_its_interval(mendbot: Mendbot) -> None:
    """REQ-RA-313."""
    code, out, err = mendbot("trial")
    assert (code, err, mendbot.home.exists()) == (0, "", False)
    assert out.startswith("No run is in the trial")
    assert mendbot(*RECORD)[0] == 0

    async def fill() -> None:
        trials = GuidanceTrials(database)
        for number in range(50):
            tried = (TriedGuidance(id=1, use_count=1),)
            withheld = number % 5 == 0
            passed = number % 10 == 0 if withheld else number % 10 != 1
            await trials.record(f"run-{number}", "octo/x", tried, withheld=withheld, passed=passed)

    database = Database(f"sqlite:///{mendbot.home / 'mendbot.db'}")
    asyncio.run(fill())
    database.close()
    assert mendbot("trial")[1].splitlines() == [
        "With guidance: 35 of 40 runs passed.",
        "Without guidance: 5 of 10 runs passed.",
        "Difference: +37.5 percentage points (95 % interval: +7.8 to +64.8).",
        "Guidance helps.",
    ]
    figures = json.loads(mendbot("trial", "--repo", "Octo/X", "--json")[1])
    assert (figures["shown"], figures["withheldPassed"], figures["difference"]) == (40, 5, 0.375)
    assert json.loads(mendbot("trial", "--repo", "octo/y", "--json")[1])["difference"] is None


def test_reading_makes_no_database(mendbot: Mendbot) -> None:
    for args in (("a.py",), ("--error", "boom")):
        assert mendbot(*args)[0] == 1
        assert mendbot.json(*args) == []
    assert mendbot("export") == (0, "", "")
    assert not mendbot.home.exists()
    mendbot.home.mkdir()
    (mendbot.home / "mendbot.db").touch()
    assert mendbot("a.py")[0] == 1
    assert (mendbot.home / "mendbot.db").stat().st_size == 0
    with sqlite3.connect(mendbot.home / "mendbot.db") as database:
        database.execute("CREATE TABLE other (id)")
        assert mendbot("a.py")[0] == 1
        assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("other",)]
    database.close()


def junk(path: Path) -> None:
    path.write_bytes(b"this is no database " * 1_000)


def torn(path: Path) -> None:
    database = Database(f"sqlite:///{path}")
    database.migrate()
    database.close()
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))


def of_schema(revision: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE alembic_version (version_num TEXT)")
            database.execute("INSERT INTO alembic_version VALUES (?)", [revision])
        database.close()

    return make


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE error_kb (error_normalized TEXT)")
    database.close()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [(junk, "not a database"), (torn, "malformed"), (of_schema("9999"), "newer version"),
     (of_schema("0008"), "before its first release (schema 0008)"), (foreign, "another program"),
     (Path.mkdir, "unable to open")],
)  # fmt: skip
def test_a_database_that_cannot_be_used_is_one_sentence_and_exit_3(mendbot: Mendbot, spoil: Any, words: str) -> None:
    mendbot.home.mkdir()
    spoil(mendbot.home / "mendbot.db")
    lines = mendbot.home / "lines"
    lines.write_text('{"fingerprint": "boom", "patchHash": "hash"}\n')
    for args in (("a.py",), ("--error", "x"), RECORD, ("export",), ("import", str(lines))):
        code, out, err = mendbot(*args)
        assert (code, out) == (3, "")
        assert words in err and err.count("\n") == 1 and "Traceback" not in err


@pytest.mark.parametrize(
    ("url", "code"),
    [("postgresql://me:canary@127.0.0.1:1/x", 3), ("mysql://me:canary@host/x", 2), ("me:canary@host", 2),
     ("sqlite:////dev/null/x.db", 3)],
)  # fmt: skip
def test_a_database_elsewhere_that_cannot_be_reached_is_one_sentence(
    mendbot: Mendbot, monkeypatch: pytest.MonkeyPatch, url: str, code: int
) -> None:
    monkeypatch.setenv("MENDBOT_DATABASE_URL", url)
    done, out, err = mendbot(*RECORD)
    assert (done, out, err.count("\n"), "canary" in err) == (code, "", 1, False)


@pytest.fixture
def locked(mendbot: Mendbot, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another process in the middle of a write that takes long; ours wait less than they would."""
    mendbot(*RECORD)
    monkeypatch.setattr("bot.store.database.engines.BUSY_TIMEOUT_MS", 100)
    other = sqlite3.connect(mendbot.home / "mendbot.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.close()


def test_a_long_write_of_another_keeps_nobody_from_reading_and_is_told_to_who_writes(
    mendbot: Mendbot, locked: None
) -> None:
    assert len(mendbot.json("a.py")) == 1
    assert mendbot("export")[0] == 0
    code, out, err = mendbot(*RECORD)
    assert (code, out, err) == (3, "", "mendbot: the database cannot be written: database is locked\n")


def test_it_works_beside_a_server_that_has_the_database_open(mendbot: Mendbot) -> None:
    server = Database(f"sqlite:///{mendbot.home / 'mendbot.db'}")
    server.migrate()
    try:
        for count in (1, 2):
            assert mendbot(*RECORD)[1] == "Recorded as resolution 1.\n"
            (known,) = asyncio.run(History(server).by_file("a.py"))
            assert (known.use_count, mendbot.json("a.py")[0]["useCount"]) == (count, count)
            asyncio.run(History(server).dead_end(["boom"], "hash"))
    finally:
        server.close()


def test_an_import_says_what_it_took(mendbot: Mendbot) -> None:
    good = '{"fingerprint": "boom", "patchHash": "hash"}\n'
    lines = mendbot.home.parent / "lines"
    for text, code, out in (
        ("", 0, "0 records taken.\n"),
        (good * 2, 0, "2 records taken.\n"),
        (f"{good}\n[]\n{good}", 1, "2 records taken.\n1 lines refused:\n  line 3: Input should be an object\n"),
    ):
        lines.write_text(text)
        assert mendbot("import", str(lines)) == (code, out, "")
    lines.write_bytes(b"x" * (5 * MAX_LINE) + b"\n\xff\xfe\n" + b"{\n" * 200)
    code, out, err = mendbot("import", str(lines))
    assert (code, "give JSON lines" in err, err.count("\n")) == (2, True, 1)
    told = out.splitlines()
    assert told[:4] == [
        "0 records taken.",
        "202 lines refused:",
        "  line 1: is longer than 1,000,000 characters",
        "  line 2: is not UTF-8 text, or holds a NUL",
    ]
    assert (told[-1], len(told)) == ("  … and 102 more", 103)


def test_through_pipes_as_in_a_shell(mendbot: Mendbot) -> None:
    recorded = mendbot.process("record", "--error", "-", "--how", "so", stdin=b"boom\0 \xff in a.py\n" + b"x" * 10**6)
    assert recorded.returncode == 0, recorded.stderr
    asked = mendbot.process("--error", "-", "--json", stdin=b"boom\0 \xff in a.py\n" + b"x" * 10**6)
    assert len(json.loads(asked.stdout)["errors"]) == 1
    lines = mendbot.process("export").stdout
    taken = mendbot.process("import", "-", stdin=lines)
    assert (taken.returncode, taken.stdout) == (0, b"1 records taken.\n")


def test_an_export_that_nobody_reads_to_its_end_is_no_fault(mendbot: Mendbot) -> None:
    line = {"error": "boom", "resolution": {"how": "x" * 4_000}, "lastUsed": "2026-01-01T00:00:00Z"}
    mendbot.home.mkdir()
    (mendbot.home / "lines").write_text("\n".join(json.dumps({**line, "error": f"boom {n}"}) for n in range(200)))
    assert mendbot("import", str(mendbot.home / "lines"))[0] == 0
    argv = [sys.executable, "-m", "bot", "history", "export"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=os.environ) as export:
        assert export.stdout is not None and export.stderr is not None
        export.stdout.read(10)
        export.stdout.close()
        assert (export.stderr.read(), export.wait(60)) == (b"", 0)


def test_a_record_as_json_has_its_id(mendbot: Mendbot) -> None:
    assert mendbot(*RECORD, "--json") == (0, '{"id": 1}\n', "")
