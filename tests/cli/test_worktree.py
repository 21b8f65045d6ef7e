"""`mendbot worktree` as a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import mendbot


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
