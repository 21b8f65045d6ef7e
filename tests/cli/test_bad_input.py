"""What nobody should give the local commands, as processes: the exit code of the contract, one sentence, no traceback,
nothing half done, and bounded time and memory. Some of it is merely large."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.forked_bot import run_bot
from tests.machine import PATIENCE_S, PYTHON

ROOT = Path(__file__).parents[2]
LONG = "x" * 10_000
NO_NUMBERS = ("1.5", "2.0", "1e0", "1_0", "01", "+1", "１", "", "9" * 5_000)
HOSTILE = ["", "  ", "a\nb", "--help", "\x1b[31mred\x1b[0m", LONG, "~nobody-of-this-name/x", "caf\udce9"]


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str
    seconds: float


def mendbot(*args: str, stdin: bytes = b"", cwd: Path = ROOT, **env: str) -> Done:
    base = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT), "MENDBOT_SANDBOX": "none"}
    start = time.monotonic()
    if any(name.startswith("PYTHON") for name in env):  # which an interpreter reads when it starts
        command = [sys.executable, "-m", "bot", *args]
        done = subprocess.run(command, input=stdin, capture_output=True, env={**base, **env}, cwd=cwd, timeout=120)
    else:
        done = run_bot(*args, stdin=stdin, env={**base, **env}, cwd=cwd, timeout=120)
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return Done(done.returncode, out, err, time.monotonic() - start)


def is_refused(done: Done, code: int = 2) -> None:
    """One short, printable sentence on stderr, and the code."""
    assert "Traceback" not in done.err, done.err
    assert done.code == code, done
    (line,) = done.err.splitlines()
    assert line.startswith("mendbot: ")
    assert line.isprintable()
    assert len(line) <= 2_100


def git(where: Path, *args: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *identity, *args], cwd=where, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    where = tmp_path / "repo"
    where.mkdir()
    (where / "package.json").write_text(json.dumps({"scripts": {"test": "touch ran"}}))
    git(where, "init", "-q", "-b", "main")
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "first")
    return where


@pytest.mark.parametrize("path", HOSTILE)
def test_check_of_a_hostile_path_is_refused(repo: Path, path: str) -> None:
    """REQ-CHECK-006: and the result is printed where there is one."""
    done = mendbot("check", "--json", "--", path, cwd=repo)
    is_refused(done)
    if path.strip() and not path.startswith("~"):
        assert json.loads(done.out)["error"].startswith("Worktree not found")
    assert not (repo / "ran").exists()


@pytest.mark.parametrize(
    "args",
    [
        ("--check", "build"),
        ("--check", ""),
        ("--max-attempts", "0"),
        ("--max-attempts", "4"),
        ("--max-attempts", "two"),
        ("--max-attempts", "1.5"),
        ("more",),
    ],
)
def test_check_refuses_options_of_the_wrong_kind(repo: Path, args: tuple[str, ...]) -> None:
    is_refused(mendbot("check", str(repo), *args))
    assert not (repo / "ran").exists()


def test_check_without_git_says_so(repo: Path) -> None:
    done = mendbot("check", str(repo), PATH="/nonexistent")
    is_refused(done)
    assert "install git" in done.err
    assert not (repo / "ran").exists()


def test_check_of_a_hundred_megabytes_of_output_stays_small(tmp_path: Path) -> None:
    noise = "import os\nfor _ in range(100):\n    os.write(1, b'x' * 1_000_000)\n"
    (tmp_path / "noise.py").write_text(noise + "os.write(1, b'\\nthe end\\n')\nraise SystemExit(1)\n")
    (tmp_path / "Makefile").write_text(f"test:\n\t@{PYTHON} noise.py\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = mendbot("check", str(tmp_path), "--json", "--max-attempts", "1")
    (item,) = json.loads(done.out)["results"]
    assert done.code == 1
    assert len(item["output"]) <= 5_000
    assert "the end" in item["output"]
    assert max(0, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - before) < 400_000  # KB, of any child


def test_check_prints_on_a_terminal_that_knows_ascii_alone(repo: Path) -> None:
    done = mendbot("check", str(repo), PYTHONIOENCODING="ascii")
    assert (done.code, done.err.splitlines()[0]) == (0, "test: running `npm test`")
    assert "? test: `npm test`" in done.out


@pytest.mark.parametrize(
    "args",
    [
        ("create", "--issue", "1", "--repo", ""),
        ("create", "--issue", "1", "--repo", "nowhere"),
        ("create", "--issue", "1", "--repo", "repo/package.json"),
        ("create", "--issue", "1", "--repo", LONG),
        ("create", "--issue", "1", "--repo", "repo", "--base", ""),
        ("create", "--issue", "1", "--repo", "repo", "--branch", "a\nb\x1b[31m"),
        ("create", "--issue", "1", "--repo", "repo", "--branch", "--force"),
        ("create", "--issue", "1", "--repo", "repo", "--branch", LONG),
        ("create", "--issue", "1", "--repo", "repo", "--max", "0"),
        ("create", "--issue", "1", "--repo", "repo", "--branch", ""),
        *(("create", "--issue", number, "--repo", "repo") for number in NO_NUMBERS),
        ("create", "--issue", "1", "--repo", "repo", "--max", "1.5"),
        ("create", *(word for number in range(1, 101) for word in ("--issue", str(number))), "--repo", "repo"),
        ("cleanup", "--repo", "repo"),
        ("list", "--repo", "nowhere"),
        ("destroy",),
    ],
    ids=lambda args: " ".join(args)[:60],
)
def test_worktree_refuses_what_it_cannot_mean(repo: Path, args: tuple[str, ...]) -> None:
    """REQ-GIT-001: a clear error, and no branch and no directory is made."""
    is_refused(mendbot("worktree", *args, cwd=repo.parent))
    assert git(repo, "branch", "--format=%(refname)").split() == ["refs/heads/main"]
    assert [path.name for path in repo.parent.iterdir()] == ["repo"]


def test_worktree_without_git_says_so(repo: Path) -> None:
    done = mendbot("worktree", "create", "--issue", "1", "--repo", str(repo), PATH="/nonexistent")
    is_refused(done, code=1)
    assert "install git" in done.err
    assert not (repo.parent / "worktrees").exists()


def issue(number: object, **fields: object) -> dict[str, object]:
    return {"number": number, "title": "t", "body": "b", "labels": [], **fields}


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"\xff\xfe\x00",
        b"[{]",
        b"3",
        b"[" * 1_000_000,
        b"[" + b"9" * 5_000 + b"]",
        json.dumps([issue("1")]).encode(),
        json.dumps([issue(-1)]).encode(),
        json.dumps([issue(1, title=3)]).encode(),
        json.dumps([issue(1, labels="bug")]).encode(),
        json.dumps([issue(1), None]).encode(),
    ],
    ids=range(11),
)
def test_group_refuses_what_are_no_issues(stdin: bytes) -> None:
    done = mendbot("group", "--by", "similarity", stdin=stdin)
    is_refused(done)
    assert done.out == ""


@pytest.mark.parametrize(
    "args", [("--by", "size"), (), *(("--by", "file", "--max-size", size) for size in ("0", "1.5"))]
)
def test_group_refuses_options_of_the_wrong_kind(args: tuple[str, ...]) -> None:
    is_refused(mendbot("group", *args, stdin=b"[]"))


def test_group_prints_names_that_are_no_text_as_json() -> None:
    """Half a surrogate pair is JSON's to escape, and UTF-8 has nothing for it."""
    strange = [issue(1, labels=["component:\ud800\x00\x1b[31m\n--"]), issue(2, title="\x00" * 1000, body=None)]
    done = mendbot("group", "--by", "component", stdin=json.dumps(strange).encode())
    assert (done.code, done.err) == (0, "")
    groups = json.loads(done.out)["groups"]
    assert sorted(number for group in groups for number in group["issues"]) == [1, 2]
    assert all(group["suggested_branch"].startswith("fix/issue-") for group in groups)


def test_group_ends_quietly_when_its_reader_is_gone() -> None:
    issues = json.dumps([issue(number) for number in range(1, 3_001)])
    command = f"{sys.executable} -m bot group --by file --max-size 1 | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], input=issues, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "{", "")


@pytest.mark.parametrize("by", ["component", "file", "label", "similarity"])
def test_group_takes_twenty_thousand_issues(by: str, tmp_path: Path) -> None:
    """The address space is limited, so that what it takes is bounded for certain."""
    words = [f"word{number}" for number in range(997)]
    issues = [
        issue(
            number,
            title=" ".join(words[(number * step) % 997] for step in (1, 7, 31)),
            body=f"in src/{words[number % 313]}/a{number % 20_000}.py\n" + " ".join(words[(number * 5) % 900 :][:5]),
            labels=[f"component:c{number % 50}"],
        )
        for number in range(1, 20_001)
    ]
    (tmp_path / "issues.json").write_text(json.dumps(issues))
    command = f"ulimit -v 1500000; exec {sys.executable} -m bot group --by {by} < {tmp_path}/issues.json"
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=ROOT, timeout=PATIENCE_S)
    assert (done.returncode, done.stderr) == (0, b"")
    numbers = {number for group in json.loads(done.stdout)["groups"] for number in group["issues"]}
    assert len(numbers) == 20_000


EDIT = {"tool_name": "Edit", "session_id": "s", "tool_input": {"file_path": "/a/b.ts", "old_string": "x" * 2_000_000}}
REQUESTS = {
    "two megabytes": json.dumps(EDIT).encode(),
    "empty": b"",
    "broken": b'{"tool_name": "Edit", ',
    "deep": b"[" * 2_000_000,
    "wrong types": b'{"tool_name": ["Edit"], "tool_input": 7, "session_id": {}}',
    "no object": b"3",
    "bytes": b"\xff\xfe\x00\x01",
    "hostile name": b'{"tool_name": "Edit", "tool_input": {"file_path": "/a/\\u0000%_\\n--\\u001b[31m.ts"}}',
    "long name": json.dumps({"tool_name": "Write", "tool_input": {"file_path": f"/a/{LONG}.ts"}}).encode(),
}


@pytest.fixture
def history(tmp_path: Path) -> Iterator[Path]:
    """A database of the seed's two tables that knows of an error in b.ts."""
    path = tmp_path / "mendbot.db"
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE error_kb (id INTEGER PRIMARY KEY, ts, error_normalized UNIQUE, error_raw, resolution, "
            "resolved_by, tool_sequence, use_count, last_used)"
        )
        database.execute("CREATE TABLE events (id, v, type, ts, session_id, project, project_path, data)")
        row = (1, "t", "boom in b.ts", "r", '{"resolvedBy": "Edit"}', "x", "[]", 1, "2020")
        database.execute("INSERT INTO error_kb VALUES (?,?,?,?,?,?,?,?,?)", row)
    database.close()
    yield path


@pytest.mark.parametrize("name", REQUESTS)
def test_the_hook_never_blocks_whatever_it_is_asked(history: Path, name: str) -> None:
    """REQ-RA-305: exit 0, and no output where there is nothing to say."""
    done = mendbot("hook", "pre-tool", stdin=REQUESTS[name], MENDBOT_HOME=str(history.parent))
    assert (done.code, done.err) == (0, "")
    assert ("boom in b.ts" in done.out) == (name == "two megabytes")
    assert done.seconds < 60


@pytest.mark.parametrize("state", ["missing", "corrupt", "empty", "directory", "pipe", "locked"])
def test_the_hook_is_silent_where_the_database_is_of_no_use(history: Path, state: str) -> None:
    """REQ-RA-305, and its own limit of 1.5 s (REQ-RA-306)."""
    lock = sqlite3.connect(history, isolation_level=None)
    if state == "locked":
        lock.execute("BEGIN EXCLUSIVE")
    else:
        history.unlink()
    if state == "directory":
        history.mkdir()
    elif state == "pipe":
        os.mkfifo(history)
    elif state != "missing" and state != "locked":
        history.write_bytes(b"" if state == "empty" else b"SQLite format 3\0" + b"garbage" * 500)
    done = mendbot("hook", "pre-tool", stdin=REQUESTS["two megabytes"], MENDBOT_HOME=str(history.parent))
    lock.close()
    assert (done.code, done.out, done.err) == (0, "", "")
    assert done.seconds < 60


@pytest.mark.parametrize("directory", ["", "nowhere", "package.json", LONG, "a\nb"])
def test_hook_install_refuses_what_is_no_directory(repo: Path, directory: str) -> None:
    is_refused(mendbot("hook", "install", "--", directory, cwd=repo))
    assert git(repo, "status", "--porcelain") == ""
