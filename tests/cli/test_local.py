"""The commands for a tree on this machine, as processes: what they print, and the exit codes of the contract."""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.forked_bot import run_bot
from tests.machine import PATIENCE_S

CHECK = "import sys; sys.exit(0 if open('answer').read() == '42' else print('answer:1: error: wrong') or 1)"


def mendbot(*args: str, stdin: str = "", cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **more}
    done = run_bot(*args, stdin=stdin.encode(), env=env, cwd=cwd or Path(__file__).parents[2], timeout=60)
    return subprocess.CompletedProcess(args, done.returncode, done.stdout.decode(), done.stderr.decode())


def git(where: Path, *args: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *args], cwd=where, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose committed policy checks that `answer` is 42."""
    where = tmp_path / "repo"
    (where / ".github").mkdir(parents=True)
    (where / "answer").write_text("42")
    (where / "check.py").write_text(CHECK)
    (where / ".github" / "mendbot.yml").write_text("checks: {test: {command: python3 check.py}}\n")
    git(where, "init", "-q", "-b", "main")
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "first")
    return where


def test_check_passes_and_fails_by_exit_code_and_says_which(repo: Path) -> None:
    good = mendbot("check", str(repo))
    assert (good.returncode, "✓ test" in good.stdout) == (0, True), good.stderr
    (repo / "answer").write_text("41")
    bad = mendbot("check", ".", "--check", "test", "--max-attempts", "1", "--json", cwd=repo)
    result = json.loads(bad.stdout)
    assert bad.returncode == 1
    assert [(one["check"], one["passed"]) for one in result["results"]] == [("test", False)]
    assert "answer:1: error: wrong" in result["results"][0]["error"]


@pytest.fixture
def three_checks(repo: Path) -> Path:
    """A repository with three checks, of which lint fails."""
    commands = "checks:\n  typecheck: {command: 'true'}\n  lint: {command: 'echo bad luck; exit 3'}\n"
    (repo / ".github" / "mendbot.yml").write_text(f"{commands}  test: {{command: python3 check.py}}\n")
    git(repo, "commit", "-qam", "three checks")
    return repo


def without_times(text: str) -> list[str]:
    return re.sub(r"\b[0-9]+\.[0-9](?= s|초)", "N", text).splitlines()


def test_check_of_the_working_directory_tells_its_progress_its_results_and_what_was_not_run(three_checks: Path) -> None:
    """REQ-CHECK-005: and the sum at the end counts them."""
    done = mendbot("check", "--max-attempts", "2", cwd=three_checks)
    assert done.returncode == 1
    command = "`echo bad luck; exit 3`"
    assert without_times(done.stderr) == [
        "typecheck: running `true`",
        "typecheck: passed in N s",
        f"lint: running {command}",
        "lint: failed in N s",
        f"lint: running {command} again (attempt 2)",
        "lint: failed in N s",
    ]
    out = without_times(done.stdout)
    assert out[:2] == ["✓ typecheck: `true` in N s", f"✗ lint: {command} in N s"]
    assert "bad luck" in out[2]
    assert out[-2:] == ["- test: not run (fail-fast)", "1 passed, 1 failed, 1 not run (fail-fast) in N s"]


def test_check_as_json_names_what_was_not_run_and_is_silent_otherwise(three_checks: Path) -> None:
    """REQ-CHECK-005."""
    done = mendbot("check", "--json", "--max-attempts", "1", cwd=three_checks)
    result = json.loads(done.stdout)
    assert (done.returncode, done.stderr, result["not_run"]) == (1, "", ["test"])
    assert [one["check"] for one in result["results"]] == ["typecheck", "lint"]
    slow = mendbot("check", "--json", "--max-attempts", "1", "--no-fail-fast", cwd=three_checks)
    assert json.loads(slow.stdout)["not_run"] == []


def test_check_speaks_korean_where_it_is_set(three_checks: Path) -> None:
    done = mendbot("check", "--max-attempts", "1", cwd=three_checks, MENDBOT_LANGUAGE="ko")
    assert without_times(done.stderr)[:2] == ["typecheck: `true` 실행 중", "typecheck: 통과 (N초)"]
    assert without_times(done.stdout)[-2:] == [
        "- test: 실행 안 함 (fail-fast)",
        "통과 1건, 실패 1건, 실행 안 함 1건 (fail-fast) (N초)",
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_check_that_is_interrupted_leaves_the_files_and_says_so(repo: Path, number: signal.Signals) -> None:
    (repo / ".github" / "mendbot.yml").write_text("checks: {test: {command: 'echo half > answer; sleep 600'}}\n")
    git(repo, "commit", "-qam", "slow")
    argv = [sys.executable, "-m", "bot", "check", str(repo)]
    # a suite in the background ignores Ctrl-C, one below nohup SIGHUP, and their children would, too
    heard = functools.partial(signal.signal, number, signal.SIG_DFL)
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, preexec_fn=heard)
    while (repo / "answer").read_text() != "half\n":
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, (repo / "answer").read_text()) == (1, "42")
    assert err.splitlines()[1:] == ["mendbot: interrupted; your files are as they were before the check"]


def test_a_check_that_failed_is_headed_by_its_error_and_not_by_its_last_line(repo: Path) -> None:
    log = Path(__file__).parents[2] / "fixtures" / "logs" / "pytest" / "run-long.log"
    (repo / "log.txt").write_bytes(log.read_bytes())
    (repo / "tests").mkdir()
    (repo / "tests" / "conftest.py").write_text("\n" * 9)
    (repo / "check.py").write_text("print(open('log.txt').read())\nraise SystemExit(1)\n")
    bad = mendbot("check", str(repo), "--check", "test", "--max-attempts", "1")
    first, *rest = bad.stdout.splitlines()
    assert first == "✗ test: tests/test_orders.py::test_fixture — RuntimeError: no database (tests/conftest.py:6)"
    assert "E       RuntimeError: no database" in rest
    assert "- tests/test_orders.py::test_add — assert 0 == 4" in rest
    assert bad.stdout.count("RuntimeError: no database (") == 1


def test_check_goes_by_the_committed_policy_not_by_the_one_in_the_tree(repo: Path) -> None:
    (repo / ".github" / "mendbot.yml").write_text("checks: {test: {command: 'false'}}\n")
    assert mendbot("check", str(repo), "--check", "test").returncode == 0


@pytest.mark.parametrize("path", ["nowhere", "answer"])
def test_check_of_no_tree_prints_the_result_and_exits_2(repo: Path, path: str) -> None:
    done = mendbot("check", str(repo / path), "--json")
    assert done.returncode == 2
    assert "Worktree not found" in json.loads(done.stdout)["error"]
    assert done.stderr.startswith(f"mendbot: {repo / path}")
    assert len(done.stderr.strip().splitlines()) == 1
    plain = mendbot("check", str(repo / path))
    assert (plain.returncode, plain.stdout, plain.stderr) == (2, "", done.stderr)
    assert "orktree" not in plain.stderr


def test_an_empty_path_is_named_as_such() -> None:
    done = mendbot("check", "")
    assert done.returncode == 2
    assert done.stderr.startswith("mendbot: the path is empty")


def test_an_unknown_command_is_answered_with_a_whole_sentence() -> None:
    done = mendbot("nosuch")
    assert done.returncode == 2
    assert done.stderr.endswith("config; try `mendbot --help`\n")


def test_check_without_a_command_says_what_was_looked_for(tmp_path: Path) -> None:
    done = mendbot("check", str(tmp_path), "--json")
    assert done.returncode == 2
    assert "looked for" in json.loads(done.stdout)["error"]


def test_a_broken_policy_is_named_with_its_key(repo: Path) -> None:
    (repo / ".github" / "mendbot.yml").write_text("chekcs: {}\n")
    git(repo, "commit", "-qam", "broken")
    done = mendbot("check", str(repo))
    assert done.returncode == 2
    assert "did you mean `checks`" in done.stderr


def test_worktrees_come_and_go_and_the_branch_stays(repo: Path) -> None:
    made = mendbot("worktree", "create", "--issue", "3", "--issue", "1", "--json", cwd=repo)
    tree = json.loads(made.stdout)
    assert (made.returncode, tree["branch"]) == (0, "fix/issue-1-3")
    assert Path(tree["worktree_path"], "answer").read_text() == "42"
    listed = json.loads(mendbot("worktree", "list", "--repo", str(repo), "--json").stdout)
    assert [entry["issues"] for entry in listed["worktrees"]] == [[1, 3]]
    cleanup = ("worktree", "cleanup", "--issue", "1", "--issue", "3")
    gone = "no worktree of #1, #3 is left; the branch fix/issue-1-3 is never deleted\n"
    for done in (mendbot(*cleanup, cwd=repo), mendbot(*cleanup, cwd=repo)):
        assert (done.returncode, done.stdout) == (0, gone)
    assert json.loads(mendbot("worktree", "list", "--json", cwd=repo).stdout)["worktrees"] == []
    again = mendbot("worktree", "create", "--issue", "1", "--issue", "3", "--json", cwd=repo)
    assert again.returncode == 1
    assert json.loads(again.stdout)["success"] is False


def test_the_operators_limit_of_worktrees_holds_where_no_option_says_otherwise(repo: Path) -> None:
    """REQ-GIT-004."""
    create = ("worktree", "create", "--repo", str(repo), "--issue")
    one = {"MENDBOT_MAX_WORKTREES": "1"}
    assert mendbot(*create, "1", **one).returncode == 0
    full = mendbot(*create, "2", **one)
    assert (full.returncode, "Maximum parallel worktrees exceeded" in full.stderr) == (1, True)
    assert mendbot(*create, "2", "--max", "2", **one).returncode == 0
    assert mendbot(*create, "3").returncode == 0
    assert mendbot(*create, "4").returncode == 1
    spoilt = mendbot(*create, "4", MENDBOT_MAX_WORKTREES="1.5")
    assert (spoilt.returncode, "MENDBOT_MAX_WORKTREES" in spoilt.stderr) == (2, True)


@pytest.mark.parametrize("args", [(), ("--issue", "0"), ("--issue", "-1"), ("--issue", "one")])
def test_a_worktree_for_no_issue_is_bad_input(repo: Path, args: tuple[str, ...]) -> None:
    done = mendbot("worktree", "create", *args, cwd=repo)
    assert done.returncode == 2
    assert done.stderr.startswith("mendbot: ")
    assert not (repo.parent / "worktrees").exists()


def test_group_reads_issues_as_githubs_api_gives_them() -> None:
    issues = [
        {"number": 2, "title": "b", "body": None, "labels": [{"name": "component:x"}]},
        {"number": 1, "title": "a", "body": "Component: X", "labels": []},
        {"number": 3, "title": "c", "body": "other", "labels": ["bug"]},
    ]
    done = mendbot("group", "--by", "component", stdin=json.dumps(issues))
    groups = json.loads(done.stdout)["groups"]
    assert [group["issues"] for group in groups] == [[1, 2], [3]]
    assert groups[0]["suggested_branch"] == "fix/issue-1-2"


@pytest.mark.parametrize("stdin", ["", "{", "{}", "[1]", '[{"title": "no number"}]', "[" * 100_000])
def test_group_refuses_what_is_no_list_of_issues(stdin: str) -> None:
    done = mendbot("group", "--by", "file", stdin=stdin)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_hook_install_writes_the_local_settings_once_and_undoes_it(repo: Path) -> None:
    for _ in range(2):
        done = mendbot("hook", "install", str(repo))
        assert (done.returncode, done.stderr) == (0, "")
        assert "git does not ignore settings.local.json here" in done.stdout
    settings = json.loads((repo / ".claude" / "settings.local.json").read_text())
    assert [entry["matcher"] for entry in settings["hooks"]["PreToolUse"]] == ["Edit|Write|Bash|Task"]
    (repo / ".git" / "info" / "exclude").write_text("settings.local.json\n")
    assert "git does not ignore" not in mendbot("hook", "install", str(repo)).stdout
    undone = mendbot("hook", "install", str(repo), "--undo")
    removed = repo / ".claude" / "settings.local.json"
    assert (undone.returncode, undone.stdout) == (0, f"removed the hook from {removed}\n")
    assert not (repo / ".claude").exists()
    again = mendbot("hook", "install", str(repo), "--undo")
    assert (again.returncode, again.stdout.startswith("nothing to undo")) == (0, True)


def test_hook_install_outside_of_a_repository_says_so(tmp_path: Path, repo: Path) -> None:
    assert "is in no git repository" not in mendbot("hook", "install", str(repo)).stdout
    (repo / "below").mkdir()
    assert "is in no git repository" not in mendbot("hook", "install", str(repo / "below")).stdout
    (outside := tmp_path / "outside").mkdir()
    done = mendbot("hook", "install", str(outside))
    assert (done.returncode, f"{outside} is in no git repository" in done.stdout) == (0, True)


def test_hook_install_names_what_an_earlier_version_wrote(tmp_path: Path) -> None:
    shared = tmp_path / ".claude" / "settings.json"
    shared.parent.mkdir()
    old = {"type": "command", "command": "/old/python -m bot hook pre-tool"}
    shared.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [old]}]}}))
    done = mendbot("hook", "install", str(tmp_path))
    assert f"an earlier version wrote it into {shared} too" in done.stdout
    assert mendbot("hook", "install", str(tmp_path), "--undo").returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("undo", [(), ("--undo",)])
def test_hook_install_refuses_what_is_no_directory_or_no_json(tmp_path: Path, undo: tuple[str, ...]) -> None:
    assert mendbot("hook", "install", str(tmp_path / "nowhere"), *undo).returncode == 2
    settings = tmp_path / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text("{ // mendbot-hook")
    done = mendbot("hook", "install", str(tmp_path), *undo)
    assert (done.returncode, "JSON has no comments" in done.stderr) == (2, True)
    assert settings.read_text() == "{ // mendbot-hook"
