"""`mendbot check`: runs the checks of a tree on this machine."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bot.cli.arguments import Flag, GivenPath, Number
from bot.cli.directories import absolute, directory_problem
from bot.cli.exits import BAD_INPUT, NOT_PASSED, PASSED
from bot.cli.output import complain, note, print_json, say
from bot.config import terminal_language
from bot.model import CHECK_ORDER, CheckName, RunChecksResult
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import english, reason_text
from bot.rules.reasons import make_reason


def check(
    path: GivenPath = Path(),
    *,
    check: Annotated[tuple[CheckName, ...], Parameter(negative="")] = (),
    fail_fast: bool = True,
    max_attempts: Number = 3,
    plan: Flag = False,
    json: Flag = False,
) -> int:
    """Run a tree's own checks.

    They are those of .github/mendbot.yml as committed (origin's default branch, else HEAD), or found in the tree.

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
    from bot.config import POLICY_PATH, load_settings
    from bot.reports.terminal.checks import progress_line, result_lines, summary_line
    from bot.workspace.checks.check_tree import check_tree
    from bot.workspace.detect.local_policy import has_ignored_policy

    tree, language = absolute(path), load_settings().language
    is_directory = directory_problem(tree) is None
    if is_directory and asyncio.run(has_ignored_policy(tree)):
        note(t(language, "cli.policy_ignored", path=POLICY_PATH))
    if plan or not is_directory:
        return _without_running(tree, check, plan=plan, as_json=json)
    watch = None if json else lambda progress: note(progress_line(progress, language))
    run = partial(check_tree, fail_fast=fail_fast, max_attempts=max_attempts, watch=watch)
    try:
        result = asyncio.run(_check(tree, check, run))
    except (KeyboardInterrupt, asyncio.CancelledError):
        complain(t(language, "local.interrupted"))
        return NOT_PASSED
    if json or any(each.command for each in result.results):
        lines = (*result_lines(result, language), summary_line(result, language))
        print_json(result) if json else say("\n".join(lines))
    return _exit_code(result, tree, check)


def _exit_code(result: RunChecksResult, tree: Path, wanted: tuple[CheckName, ...]) -> int:
    """Returns the exit code, and prints why no check ran or which checks have no command."""
    ran = any(each.command for each in result.results)
    if not ran and (problems := _problems(result, tree, wanted)):
        for problem in problems:
            complain(problem)
        return BAD_INPUT
    if not wanted:
        _note_unfound(result)
    return PASSED if result.passed else NOT_PASSED


def _note_unfound(result: RunChecksResult) -> None:
    named = {*(each.check for each in result.results), *result.not_run}
    if unfound := [name for name in CHECK_ORDER if name not in named]:
        note(t(terminal_language(), "cli.unfound", checks=", ".join(unfound)))


def _problems(result: RunChecksResult, tree: Path, wanted: tuple[CheckName, ...]) -> Sequence[str]:
    """Returns why no check ran, with every check that has no command; options have their name on the command line."""
    from bot.cli.plan import plan_of, unfound_lines
    from bot.reports.terminal.checks import problem_line

    language = terminal_language()
    is_unfound = any(each.no_command is not None for each in result.results)
    if is_unfound and (lines := unfound_lines(asyncio.run(plan_of(tree, wanted)), language)):
        return lines
    problem = problem_line(result, language).replace("max_attempts", "--max-attempts")
    return [problem] if problem else []


def _without_running(tree: Path, wanted: tuple[CheckName, ...], *, plan: bool, as_json: bool) -> int:
    """Print the plan, or the problem of the directory; returns the exit code."""
    from bot.cli.plan import plan_of, print_plan

    if (problem := directory_problem(tree)) is None:
        return print_plan(asyncio.run(plan_of(tree, wanted)), as_json=as_json)
    if as_json and not plan:
        print_json(RunChecksResult(passed=False, error=english(make_reason("cli.no_worktree", problem=problem))))
    complain(reason_text(make_reason("cli.give_tree", problem=problem), terminal_language()))
    return BAD_INPUT


async def _check(
    tree: Path, check: tuple[CheckName, ...], run: Callable[..., Awaitable[RunChecksResult]]
) -> RunChecksResult:
    _handle_signals()
    return await run(tree, check or None)


def _handle_signals() -> None:
    """Cancel this task on SIGTERM and SIGHUP, as Ctrl-C does, so that files are restored. A signal that is ignored
    stays ignored, as SIGHUP below nohup(1)."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, task.cancel)
