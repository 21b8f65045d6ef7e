"""`mendbot worktree`: makes, removes and lists worktrees for issues."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from bot.cli.arguments import Flag, GivenPath, Number, Numbers
from bot.cli.directories import absolute, directory_problem
from bot.cli.exits import BAD_INPUT, NOT_PASSED, PASSED
from bot.cli.output import complain, print_json, say
from bot.config import load_settings, terminal_language
from bot.reports.locale.catalog import t


def _worktree(action: str, issues: Sequence[int], options: dict[str, Any], as_json: bool) -> int:
    from bot.workspace.worktree.worktree_command import manage_worktree

    language = terminal_language()
    result = asyncio.run(manage_worktree(action, list(issues) or None, **options))
    if as_json:
        print_json(result)
    elif result.worktrees is not None:
        for entry in result.worktrees:
            say(f"{entry.path}\t{entry.branch}\t{','.join(map(str, entry.issues))}")
    elif result.success:
        numbers = ", ".join(f"#{number}" for number in issues)
        say(result.worktree_path or t(language, "worktree.removed", issues=numbers, branch=result.branch))
    if result.success:
        return PASSED
    if action != "list" and not issues:
        complain(t(language, "cli.no_issue"))
    else:
        complain((result.error or t(language, "worktree.failed", action=action)).replace("max_worktrees", "--max"))
    return BAD_INPUT if _is_bad_input(action, issues, options) else NOT_PASSED


def _is_bad_input(action: str, issues: Sequence[int], options: dict[str, Any]) -> bool:
    """Whether the request is refused for its arguments, and not for the state of the repository."""
    from bot.workspace.git.branch_names import branch_for, branch_problem

    if directory_problem(absolute(options.get("repo") or Path())) is not None:
        return True
    if action == "list":
        return False
    if not issues or any(number < 1 for number in issues) or options.get("max_worktrees", 1) < 1:
        return True
    branch = options.get("branch_name")
    return branch_problem(branch_for(issues) if branch is None else branch) is not None


Issues = Annotated[Numbers, Parameter(name="--issue", negative="")]
worktree = App(name="worktree", help="Make, remove and list worktrees for issues.", result_action="return_value")


@worktree.command
def create(
    *,
    issue: Issues = (),
    branch: str | None = None,
    repo: GivenPath | None = None,
    base: GivenPath | None = None,
    max: Annotated[Number | None, Parameter(name="--max")] = None,
    json: Flag = False,
) -> int:
    """Check out a new branch for issues in a directory of its own.

    Parameters
    ----------
    issue
        an issue's number; repeatable
    branch
        a name instead of fix/issue-1-2
    repo
        the repository; the working directory by default
    base
        where worktrees go; `worktrees` beside the repository by default
    max
        worktrees at once (MENDBOT_MAX_WORKTREES, else 3)
    json
        print one JSON document instead of a line
    """
    limit = load_settings().max_worktrees if max is None else max
    options = {"branch_name": branch, "repo": repo, "base": base, "max_worktrees": limit}
    return _worktree("create", issue, options, json)


@worktree.command
def cleanup(
    *, issue: Issues = (), repo: GivenPath | None = None, base: GivenPath | None = None, json: Flag = False
) -> int:
    """Delete the worktree of issues; its branch stays, and a dirty one is refused.

    Parameters
    ----------
    issue
        an issue's number; repeatable
    repo
        the repository; the working directory by default
    base
        where worktrees are
    json
        print one JSON document instead of a line
    """
    return _worktree("cleanup", issue, {"repo": repo, "base": base}, json)


@worktree.command(name="list")
def list_worktrees(*, repo: GivenPath | None = None, base: GivenPath | None = None, json: Flag = False) -> int:
    """List the worktrees that git knows: path, branch, issues.

    Parameters
    ----------
    repo
        the repository; the working directory by default
    base
        where worktrees are
    json
        print one JSON document instead of lines
    """
    return _worktree("list", (), {"repo": repo, "base": base}, json)
