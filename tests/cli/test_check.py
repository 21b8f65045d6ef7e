"""`mendbot check` as a process: what it prints, and the exit codes of the contract."""

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

from tests.cli.commands import git, mendbot
from tests.machine import PATIENCE_S

ROOT = Path(__file__).parents[2]


def test_check_passes_and_fails_by_exit_code_and_says_which(repo: Path) -> None:
    good = mendbot("check", str(repo))
    assert (good.returncode, "✓ test" in good.stdout) == (0, True), good.stderr
    (repo / "answer").write_text("41")
    bad = mendbot("check", ".", "--check", "test", "--max-attempts", "1", "--json", cwd=repo)
    result = json.loads(bad.stdout)
    assert bad.returncode == 1
    assert [(one["check"], one["passed"]) for one in result["results"]] == [("test", False)]
    assert "answer:1: error: wrong" in result["results"][0]["error"]


def test_check_names_a_configuration_that_is_not_committed_as_ignored(repo: Path) -> None:
    assert "mendbot.yml" not in mendbot("check", ".", cwd=repo).stderr
    with (repo / ".github" / "mendbot.yml").open("a") as changed:
        changed.write("# changed\n")
    assert ".github/mendbot.yml" in mendbot("check", ".", cwd=repo).stderr


@pytest.mark.parametrize("kind", ["pipe", "endless"])
def test_check_reads_no_configuration_that_is_no_file(repo: Path, kind: str) -> None:
    """A clone may hold any of them; reading it would never end."""
    path = repo / ".github" / "mendbot.yml"
    path.unlink()
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    assert mendbot("check", ".", cwd=repo).returncode == 0


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
    done = mendbot("check", str(repo), "--check", "test")
    assert done.returncode == 0
    assert ".github/mendbot.yml differs from the committed file" in done.stderr
    git(repo, "checkout", "-q", ".")
    assert "differs" not in mendbot("check", str(repo), "--check", "test").stderr


def test_every_check_without_a_command_is_named(repo: Path, tmp_path: Path) -> None:
    assert "no command found for: typecheck, lint;" in mendbot("check", str(repo)).stderr
    (tmp_path / "empty").mkdir()
    lines = mendbot("check", str(tmp_path / "empty")).stderr.splitlines()
    assert [line.partition(" no command")[0] for line in lines] == [
        "mendbot: typecheck:", "mendbot: lint:", "mendbot: test:"
    ]  # fmt: skip


def test_a_wrong_option_has_its_name_on_the_command_line(repo: Path) -> None:
    assert "--max-attempts must be" in mendbot("check", str(repo), "--max-attempts", "7").stderr
    assert "--issue NUMBER" in mendbot("worktree", "create", "--repo", str(repo)).stderr
    assert mendbot("agent", "check").stderr.endswith("NAME requires an argument; try `mendbot agent check --help`\n")


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
    assert done.stderr.endswith("history, …; try `mendbot --help`\n")


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


def test_output_that_is_redirected_into_the_tree_is_no_altered_file(three_checks: Path) -> None:
    (three_checks / "out.txt").write_text("of a run before\n")
    git(three_checks, "add", "out.txt")
    git(three_checks, "commit", "-qm", "a tracked log")
    argv = [sys.executable, "-m", "bot", "check", str(three_checks), "--max-attempts", "2"]
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}
    with (three_checks / "out.txt").open("w") as out, (three_checks / "err.txt").open("w") as err:
        done = subprocess.run(argv, cwd=three_checks, env=env, stdout=out, stderr=err, timeout=PATIENCE_S, check=False)
    assert done.returncode == 1
    progress, results = ((three_checks / name).read_text() for name in ("err.txt", "out.txt"))
    assert without_times(progress)[0] == "typecheck: running `true`"
    assert without_times(progress)[-1] == "lint: failed in N s"
    assert without_times(results)[-1] == "1 passed, 1 failed, 1 not run (fail-fast) in N s"
    assert "out.txt" not in results and "err.txt" not in results
