"""Sessions by `mendbot fix` in small real projects: what it tells, what it refuses, and what it leaves (spec D)."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.e2e.session_faces import ended, fix, refused, sleepers, start_fix, until
from tests.e2e.session_projects import (
    IS_42,
    LONG,
    PLAIN,
    SITUATION_NAMES,
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

RIGHT = agent(put("answer.txt", "42\n"))
SLEEP = f"echo >litter; sleep {LONG}"


def asked_of(tree: Path, **more: object) -> Doc:
    return {"repo": str(tree), "task": "The answer is 42.", "validationCommands": [IS_42], "agents": [RIGHT], **more}


@pytest.mark.parametrize("situation", SITUATIONS, ids=SITUATION_NAMES)
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
    ],
    ids=str,
)
def test_what_cannot_be_served_is_exit_code_2_with_the_option(tmp_path: Path, wrong: Doc, option: str) -> None:
    """REQ-RUN-001: one line says what is wrong and how to mend it, and nothing is begun."""
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
    for said in ("attempt 1 of 1", "command changed answer.txt", "classified `unknown`: bad luck", "finished: failed"):
        assert said in out
    kept = out.splitlines()[-1].partition("is kept: ")[2].removesuffix(" in MENDBOT_HOME")
    assert "+42" in (tmp_path / "home" / kept).read_text()
    assert err.startswith("mendbot: max_iterations: ")


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
    process.communicate()
    until(lambda: sleepers() == 0)
    assert (tree / "answer.txt").read_text() == "42\n"
    seen = "cat answer.txt > seen; ls -A >> seen; echo 42 > answer.txt"
    code, told = fix(asked_of(tree, agents=[shell(seen)]), home)
    assert (code, told["status"]) == (0, "success")
    assert (tree / "seen").read_text().split() == ["41", *sorted([*PLAIN, "seen"])]
    assert (tree / "answer.txt").read_text() == "42\n"
