"""The commands for a tree on this machine: check it, make and remove worktrees, group issues."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter, Token

from bot.cli.exits import BAD_INPUT, NOT_PASSED, PASSED
from bot.cli.numbers import Number, Numbers
from bot.cli.output import complain, note, print_json, say
from bot.errors import UserError
from bot.model import RunChecksResult
from bot.reports.format.truncate import one_line

__all__ = ["Check", "Flag", "GivenPath", "absolute", "check", "group", "print_json", "worktree"]

Check = Literal["typecheck", "lint", "test"]
Flag = Annotated[bool, Parameter(negative="")]
LONGEST_INPUT = 128 * 1024 * 1024
"""Bytes of issues: 50,000 are some 35 MB, and parsed they take ten times the room."""


def _path(_: object, tokens: Sequence[Token]) -> Path:
    """An empty path is a variable that is not set, and must not mean the working directory."""
    if not tokens[0].value.strip():
        raise ValueError("the path is empty; give one, or `.` for the working directory")
    return Path(tokens[0].value)


GivenPath = Annotated[Path, Parameter(converter=_path)]


def check(
    path: GivenPath = Path(),
    *,
    check: Annotated[tuple[Check, ...], Parameter(negative="")] = (),
    fail_fast: bool = True,
    max_attempts: Number = 3,
    plan: Flag = False,
    json: Flag = False,
) -> int:
    """Run a tree's own checks.

    They are those of .github/mendbot.yml on the default branch, or what is found in the tree's files.

    Parameters
    ----------
    path
        the tree; the working directory by default
    check
        repeatable; all by default
    fail_fast
        stop at the first failure (default); the rest is not run
    max_attempts
        runs of a failed check; to pass later is flaky
    plan
        print what a run would set up and check; run nothing
    json
        print one JSON document instead of lines
    """
    from bot.config import load_settings
    from bot.reports.terminal.checks import progress_line, result_lines, summary_line
    from bot.workspace.checks.run_checks import run_checks as run

    tree, language = absolute(path), load_settings().language
    if plan or directory_problem(tree) is not None:
        return _without_running(tree, check, plan=plan, as_json=json)
    watch = None if json else lambda seen: note(progress_line(seen, language))
    go = partial(run, fail_fast=fail_fast, max_attempts=max_attempts, watch=watch)
    try:
        result = asyncio.run(_checked(tree, check, go))
    except (KeyboardInterrupt, asyncio.CancelledError):
        complain("interrupted; your files are as they were before the check")
        return NOT_PASSED
    ran = any(one.command for one in result.results)
    if json or ran:
        lines = (*result_lines(result, language), summary_line(result, language))
        print_json(result) if json else say("\n".join(lines))
    if result.error and not ran:
        complain(result.error)
        return BAD_INPUT
    return PASSED if result.passed else NOT_PASSED


def _without_running(tree: Path, wanted: tuple[Check, ...], *, plan: bool, as_json: bool) -> int:
    """Print the plan, or what is wrong with the directory."""
    from bot.cli.plan import plan_of, print_plan

    if (problem := directory_problem(tree)) is None:
        return print_plan(asyncio.run(plan_of(tree, wanted)), as_json=as_json)
    if as_json and not plan:
        print_json(RunChecksResult(passed=False, error=f"Worktree not found: {problem}"))
    complain(f"{problem}; give the directory that is to be checked")
    return BAD_INPUT


async def _checked(
    tree: Path, check: tuple[Check, ...], run_checks: Callable[..., Awaitable[RunChecksResult]]
) -> RunChecksResult:
    from bot.workspace.checks.run_checks import configured_sandbox
    from bot.workspace.detect.local_policy import checks_with_a_command, local_policy

    policy, sandbox = await local_policy(tree), await configured_sandbox()
    wanted = check or checks_with_a_command(tree, policy.checks, sandbox.finds)
    _end_like_ctrl_c()
    return await run_checks(tree, wanted, policy=policy.checks, sandbox=sandbox)


def _end_like_ctrl_c() -> None:
    """A closed terminal and kill(1) end this task as Ctrl-C does, so that files are restored; what is ignored stays so,
    as SIGHUP below nohup(1)."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, task.cancel)


def directory_problem(path: Path) -> str | None:
    """Why nothing can be looked for there (REQ-CHECK-006); os.path, as Path's own raises for endless names."""
    if not os.path.exists(path):  # noqa: PTH110
        return f"{path}: no such directory"
    if not os.path.isdir(path):  # noqa: PTH112
        return f"{path} is no directory"
    return None if os.access(path, os.R_OK | os.X_OK) else f"{path}: this user may not read it"


def repository_around(directory: Path) -> Path | None:
    """The working tree that a directory lies in; None outside of a repository."""
    return next((place for place in (directory, *directory.parents) if os.path.lexists(place / ".git")), None)


def absolute(path: Path) -> Path:
    """The path from the root, `~` filled in; raises UserError for the home of a user that there is not."""
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:  # `~nobody`
        raise UserError(f"{path}: {error}") from None


def _worktree(action: str, issues: Sequence[int], options: dict[str, Any], as_json: bool) -> int:
    from bot.workspace.worktree.manage import manage_worktree

    result = asyncio.run(manage_worktree(action, list(issues) or None, **options))
    if as_json:
        print_json(result)
    elif result.worktrees is not None:
        for entry in result.worktrees:
            say(f"{entry.path}\t{entry.branch}\t{','.join(map(str, entry.issues))}")
    elif result.success:
        gone = f"no worktree of {', '.join(f'#{number}' for number in issues)} is left"
        say(result.worktree_path or f"{gone}; the branch {result.branch} is never deleted")
    if result.success:
        return PASSED
    complain(result.error or f"{action} failed")
    return BAD_INPUT if _is_bad_input(action, issues, options) else NOT_PASSED


def _is_bad_input(action: str, issues: Sequence[int], options: dict[str, Any]) -> bool:
    """Whether it was refused for what was asked, and not for the state of things, which may change by itself."""
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
    from bot.config import load_settings

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
def list_(*, repo: GivenPath | None = None, base: GivenPath | None = None, json: Flag = False) -> int:
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


def group(
    *,
    by: Literal["component", "file", "label", "similarity"],
    max_size: Number = 5,
    json: Flag = False,
) -> int:
    """Group issues, given as JSON on stdin in the form of GitHub's REST API.

    Parameters
    ----------
    by
        the key
    max_size
        larger groups are split
    json
        print one JSON document; also where stdout is no terminal
    """
    from bot.rules.grouping import group_issues

    groups = group_issues(_issues(sys.stdin.buffer.read(LONGEST_INPUT + 1) if sys.stdin else b""), by, max_size)
    if json or not sys.stdout or not sys.stdout.isatty():
        print_json({"groups": [one.model_dump(mode="json") for one in groups]})
    else:
        for one in groups:
            numbers = " ".join(f"#{number}" for number in one.issues)
            say(f"{one_line(one.key)}\t{numbers}\t{one.suggested_branch}\t{one_line('; '.join(one.reasons))}")
    return PASSED


def _issues(data: bytes) -> list[dict[str, Any]]:
    if len(data) > LONGEST_INPUT:
        raise UserError(f"stdin holds more than {LONGEST_INPUT} bytes: group fewer issues at a time")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UserError(f"stdin is not JSON ({error}); give a list of issues as GitHub's REST API does") from None
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise UserError("stdin must hold a JSON list of issues, each an object with `number` and `title`")
    return value
