"""Sessions by `mendbot fix` in small real projects: what it tells, what it refuses, and what it leaves (spec D)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.session_faces import (
    ended,
    environment,
    fix,
    fix_argv,
    refused,
    run_command,
    sleepers,
    start_fix,
    until,
)
from tests.e2e.session_projects import (
    IS_42,
    LONG,
    PLAIN,
    SITUATIONS,
    Doc,
    Situation,
    agent,
    assert_told,
    photograph,
    put,
    shell,
    write,
)
from tests.machine import PATIENCE_S

USED = re.compile(r"Agents: [\d.]+ s, tokens and cost unknown")

ROOT = Path(__file__).parents[2]

RIGHT = agent(put("answer.txt", "42\n"))
ONE_OF_EACH_END = ("pipeline success", "test failure", "runtime failure by a missing command")
"""The situations that each run of the tests has by the command line too; over HTTP it has all."""
SLEEP = f"grep -q 41 answer.txt || {{ echo >litter; sleep {LONG}; }}"
"""Passes on the base, and does not end after a change."""


def asked_of(tree: Path, **more: object) -> Doc:
    return {"repo": str(tree), "task": "The answer is 42.", "validationCommands": [IS_42], "agents": [RIGHT], **more}


@pytest.mark.parametrize(
    "situation",
    [
        pytest.param(one, id=one.name, marks=[] if one.name in ONE_OF_EACH_END else pytest.mark.soak)
        for one in SITUATIONS
    ],
)
def test_the_situations_of_the_seed(tmp_path: Path, situation: Situation) -> None:
    """REQ-RUN-003, REQ-RUN-004, REQ-RUN-005, REQ-RUN-006, REQ-RUN-007, REQ-RUN-009: the seed's section 10 by the
    command line; a session that fails is exit code 1."""
    tree = write(tmp_path / "tree", situation.files, commit=situation.commit)
    before = photograph(tree)
    code, told = fix(situation.asked(tree), tmp_path / "home")
    assert code == (0 if situation.status == "success" else 1)
    assert_told(told, situation, tree, before)


@pytest.mark.parametrize(
    ("wrong", "option"),
    [
        ({"validationCommands": []}, "--test-command"),
        ({"repo": "TREE/none"}, "--repo: "),
        ({"agents": ["gpt"]}, "--agent: "),
        ({"filePaths": ["../other"]}, "--file"),
        ({"filePaths": ["answer.txt", "nope"]}, "has no nope"),
    ],
    ids=str,
)
def test_what_cannot_be_served_is_exit_code_2_with_the_option(tmp_path: Path, wrong: Doc, option: str) -> None:
    """REQ-RUN-001: one line says what is wrong and how to fix it, and nothing is begun."""
    tree = write(tmp_path / "tree", PLAIN)
    asked = {**asked_of(tree), **wrong}
    said = refused({**asked, "repo": asked["repo"].replace("TREE", str(tree))}, tmp_path / "home")
    assert option in said


def test_without_json_it_says_what_it_does_as_it_goes(tmp_path: Path) -> None:
    """REQ-RUN-009: lines for a person, the reason on stderr, and where what had been tried is kept."""
    tree = write(tmp_path / "tree", PLAIN)
    process = start_fix(asked_of(tree, validationCommands=["echo bad luck; exit 3"], maxAttempts=1), tmp_path / "home")
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    for said in (
        "attempt 1 of 1",
        "command changed answer.txt (",
        "classified `unknown`: bad luck",
        "finished: failed",
    ):
        assert said in err
    assert all(line.strip() and len(line) <= 500 for line in err.splitlines())
    assert "\nattempt 1 of 1\n  asks the agent `command`\n  command changed" in err
    head, stopped, before, after, used, tried, logs = out.splitlines()
    assert head == "not fixed in 1 of 1 attempts; the tree is as it was"
    assert stopped == "stopped by max_iterations: Reached maximum iterations (1/1)"
    assert before.startswith("before: ") and after == "after: `echo bad luck; exit 3` failed"
    assert USED.fullmatch(used)
    path = Path(tried.removeprefix("what was tried: "))
    assert path.is_absolute() and "+42" in path.read_text()
    assert Path(logs.removeprefix("logs: ")) == path.parent


def test_a_success_is_summed_up_with_what_changed_and_where_it_is_kept(tmp_path: Path) -> None:
    """REQ-PROOF-005, REQ-RUN-009."""
    tree = write(tmp_path / "tree", PLAIN, commit=True)
    answers = agent(put("answer.txt", "40\n"), put("answer.txt", "42\n"))
    process = start_fix(asked_of(tree, agents=[answers]), tmp_path / "home")
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    head, proof, changed, before, after, used, diff, logs = out.splitlines()
    assert (
        proof
        == "proof: proven. Gone with the change: answer.txt:1: error: not 42. The checks were red before the change."
    )
    assert head == "fixed in attempt 2 of 3: the checks pass"
    assert changed == "changed, not committed: answer.txt (+1 -1)"
    assert before.startswith("before: ")
    assert after.startswith('after: `test "$(cat answer.txt)"') and after.endswith(" passed")
    assert USED.fullmatch(used)
    assert Path(diff.removeprefix("diff: ")).read_text().endswith("-41\n+42\n")
    assert Path(logs.removeprefix("logs: ")).is_dir()


def test_what_a_check_or_a_person_wrote_into_the_tree_meanwhile_is_named_where_it_is_kept(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {**PLAIN, "README": "mine\n"}, commit=True)
    answers = agent(put("answer.txt", "42\n"))
    writes = "echo written meanwhile > README"
    process = start_fix(asked_of(tree, agents=[answers], validationCommands=[writes, IS_42]), tmp_path / "home")
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    (found,) = (
        line for line in out.splitlines() if line.startswith("other edits found in the tree, saved and undone: ")
    )
    paths = found.partition(": ")[2].split(", ")
    assert paths and all("+written meanwhile" in Path(path).read_text() for path in paths)
    assert (tree / "README").read_text() == "mine\n"


def test_the_summary_is_in_korean_where_that_is_set(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", PLAIN)
    argv = fix_argv(asked_of(tree, validationCommands=["exit 3"], maxAttempts=1))
    env = environment(tmp_path / "home", MENDBOT_LANGUAGE="ko")
    done = run_command(*argv, env=env)
    assert done.stdout.startswith("1번 중 1번 시도했으나 수정하지 못했습니다.")
    assert "변경 후: `exit 3` 실패" in done.stdout


def test_as_json_it_names_what_is_kept_by_absolute_paths(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", PLAIN)
    code, told = fix(asked_of(tree, validationCommands=["echo bad luck; exit 3"], maxAttempts=1), tmp_path / "home")
    assert code == 1
    (log,) = [event["data"]["logPath"] for event in told["events"] if "log" in event["data"] and event["iteration"]]
    (made,) = [item["diffPath"] for item in told["artifacts"] if "diff" in item]
    assert Path(log).read_text() == "bad luck\n"
    for path in (log, made, told["diffPath"]):
        assert Path(path).is_absolute() and str(Path(path).parent) == told["artifactsPath"]
    assert "+42" in Path(told["diffPath"]).read_text()


def test_without_a_repo_it_works_in_the_one_around_the_working_directory(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {**PLAIN, "below/notes.txt": "x\n"}, commit=True)
    argv = ["fix", "--task", "The answer is 42.", "--agent", RIGHT, "--json"]
    argv += ["--validation-command", IS_42, "--file", "notes.txt", "--file", "answer.txt"]
    env = environment(tmp_path / "home")
    done = run_command(*argv, env=env, cwd=tree / "below")
    told = json.loads(done.stdout)
    assert (done.returncode, told["repo"], told["changedPaths"]) == (0, str(tree), ["answer.txt"])
    begun = next(event["data"] for event in told["events"] if event["type"] == "phase_started")
    assert begun["focus"][:2] == ["below/notes.txt", "answer.txt"]
    empty = run_command(*argv, "--repo", "", env=env)
    assert (empty.returncode, "the path is empty" in empty.stderr) == (2, True)


def test_a_session_that_a_signal_ends_is_summed_up(tmp_path: Path) -> None:
    """REQ-RUN-002: Ctrl-C once, also on a terminal, where git and the checks get the signal too."""
    tree = write(tmp_path / "tree", PLAIN, commit=True)
    before = photograph(tree)
    process = start_fix(asked_of(tree, validationCommands=[SLEEP]), tmp_path / "home")
    until(lambda: sleepers() == 1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, "Traceback" in err) == (1, False)
    assert out.splitlines()[0] == "cancelled in attempt 1 of 3; the tree is as it was"
    assert photograph(tree) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_cancels_and_puts_the_tree_back(tmp_path: Path, number: signal.Signals) -> None:
    """REQ-RUN-002: Ctrl-C ends what runs, and leaves the tree as it was; exit code 1."""
    tree = write(tmp_path / "tree", PLAIN, commit=True)
    before = photograph(tree)
    process = start_fix(asked_of(tree, validationCommands=[SLEEP]), tmp_path / "home", "--json")
    until(lambda: sleepers() == 1)
    process.send_signal(number)
    code, told = ended(process)
    assert (code, told["status"], told["stopReason"]["reason"]) == (1, "cancelled", "cancelled")
    assert sleepers() == 0
    assert photograph(tree) == before


def test_killed_in_the_middle_the_next_one_puts_the_tree_back_and_works(tmp_path: Path) -> None:
    """REQ-RUN-002, REQ-RUN-007: a session whose process was killed ends as `abandoned`, its events are kept, and the
    next one begins in the tree as the first had found it."""
    tree, home = write(tmp_path / "tree", PLAIN), tmp_path / "home"
    process = start_fix(asked_of(tree, validationCommands=[SLEEP]), home)
    until(lambda: sleepers() == 1)
    process.kill()
    process.communicate(PATIENCE_S)
    until(lambda: sleepers() == 0)
    assert (tree / "answer.txt").read_text() == "42\n"
    seen = "cat answer.txt > seen; ls -A >> seen; echo 42 > answer.txt"
    code, told = fix(asked_of(tree, agents=[shell(seen)]), home)
    assert (code, told["status"]) == (0, "success")
    assert (tree / "seen").read_text().split() == ["41", *sorted([*PLAIN, "seen"])]
    assert (tree / "answer.txt").read_text() == "42\n"


@pytest.mark.parametrize("answer", ["42", "43"], ids=["success", "failure"])
def test_output_that_is_redirected_into_the_tree_stays_and_is_no_change(tmp_path: Path, answer: str) -> None:
    tree = write(tmp_path / "tree", {**PLAIN, "out.txt": "of a run before\n"}, commit=True)
    asked = asked_of(tree, agents=[agent(put("answer.txt", f"{answer}\n"))], maxAttempts=2)
    with (tree / "out.txt").open("w") as out, (tree / "err.txt").open("w") as err:
        argv = [sys.executable, "-m", "bot", *fix_argv(asked)]
        env = environment(tmp_path / "home", PYTHONPATH=str(ROOT), MENDBOT_LOG_LEVEL="debug")
        done = subprocess.run(argv, cwd=tree, env=env, stdout=out, stderr=err, timeout=PATIENCE_S, check=False)
    assert done.returncode == (0 if answer == "42" else 1)
    assert (tree / "answer.txt").read_text() == ("42\n" if answer == "42" else "41\n")
    printed = (tree / "out.txt").read_text() + (tree / "err.txt").read_text()
    assert "answer.txt" in printed
    assert "attempt 1" in printed.lower() or "1/2" in printed, printed
    for saved in (tmp_path / "home").rglob("*.diff"):
        assert "out.txt" not in saved.read_text() and "err.txt" not in saved.read_text(), saved
