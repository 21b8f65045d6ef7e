"""A run waits for its slot without losing time, and its tree is found again or made again, whole."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from bot.config import Policy
from bot.errors import Refused, UserError
from bot.model import Issue, Status
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english
from bot.workflows.runs.begin import begin_run, open_tree
from bot.workflows.runs.finish import finish, remove_tree
from tests.workflows.conftest import NAME, Harness
from tests.workflows.first_attempt import CHECKS, SET_UP, attempted

AtDesk = Callable[..., Any]


def test_a_run_waits_for_a_slot_without_its_clock_running_and_says_what_for(at_desk: AtDesk) -> None:
    """REQ-GIT-004."""

    async def work(at: Harness) -> tuple[list[str], Reason | None, int]:
        first = await at.run("run-1", 1)
        await begin_run(at.context, first)
        # about another file, or it would wait for that before it waits for the slot
        second = await at.run("run-2", 2, issues=(Issue(number=2, title="Slow", body="in check.py"),))
        fetched = sum(1 for request in at.github.world.requests if request.kind == "git")
        waiting = asyncio.create_task(begin_run(at.context, second))
        while (await at.row("run-2")).waiting_for is None:  # noqa: ASYNC110  # the state is in a database
            await asyncio.sleep(0.02)
        said = (await at.row("run-2")).waiting_for
        await asyncio.sleep(1.2)
        kept = [event.type for event in await at.runs.events("run-2")]
        await remove_tree(at.context.mirror(first.spec.on_github), at.context.tree_path(first))
        await waiting
        again = sum(1 for request in at.github.world.requests if request.kind == "git")
        assert (await at.row("run-2")).waiting_for is None
        return kept, said, again - fetched

    kept, said, fetches = at_desk(work, max_worktrees=1)
    assert kept == []
    assert english(said).startswith("No worktree is free (1 of 1 in use)")
    assert fetches <= 3, "it fetched again for every look"


def test_git_refusing_a_new_token_at_first_ends_nothing(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> str | None:
        at.github.world.faults.add("*", f"/{NAME}.git/.*", status=401)
        await begin_run(at.context, await at.run("run-1", 1))
        return (await at.state("run-1")).branch

    assert at_desk(work) == "fix/issue-1"


def test_a_second_run_of_an_issue_gets_a_branch_of_its_own(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[str | None]:
        found = []
        for run_id in ("run-1", "run-2", "run-3"):
            row = await at.run(run_id, 1)
            await begin_run(at.context, row)
            found.append((await at.state(run_id)).branch)
            await finish(at.context, row, await at.state(run_id), Status.FAILED, None)
        return found

    assert at_desk(work) == ["fix/issue-1", "fix/issue-1-r2", "fix/issue-1-r3"]


def test_a_branch_that_somebody_else_made_is_not_taken(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> str | None:
        at.github.world.push_commit(NAME, "fix/issue-1", {"answer.txt": "mine\n"}, "ada")
        await begin_run(at.context, await at.run("run-1", 1))
        return (await at.state("run-1")).branch

    assert at_desk(work) == "fix/issue-1-r2"


def test_a_base_branch_that_is_not_there_is_named(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        await begin_run(at.context, await at.run("run-1", 1, base_branch="develop"))

    with pytest.raises(UserError, match="`develop` does not exist in octo/tiny"):
        at_desk(work)


def test_a_lost_worktree_is_made_again_with_set_up_and_all_that_was_attempted(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, str]:
        row = await at.run("run-1", 1, policy=SET_UP)
        tree = await attempted(at, "run-1")
        shutil.rmtree(tree)
        await open_tree(at.context, row, await at.state("run-1"))
        return (tree / "answer.txt").read_text(), (tree / "ignored.txt").read_text()

    assert at_desk(work) == ("42\n", "made\n")


def test_a_crash_while_the_worktree_is_made_again_leaves_nothing_half_done(at_desk: AtDesk) -> None:
    slow = "echo made > ignored.txt; test ! -e ../slow || sleep 600; echo done >> ignored.txt"

    async def work(at: Harness) -> tuple[str, str]:
        row = await at.run("run-1", 1, policy=Policy.model_validate({**CHECKS, "setup": slow}))
        tree = await attempted(at, "run-1")
        shutil.rmtree(tree)
        (tree.parent / "slow").touch()
        state = await at.state("run-1")
        lost = asyncio.create_task(open_tree(at.context, row, state))
        while not (tree / "ignored.txt").exists():  # noqa: ASYNC110  # the file system tells nobody
            await asyncio.sleep(0.01)
        lost.cancel()
        await asyncio.gather(lost, return_exceptions=True)
        (tree.parent / "slow").unlink()
        await open_tree(at.context, row, state)
        return (tree / "answer.txt").read_text(), (tree / "ignored.txt").read_text()

    assert at_desk(work) == ("42\n", "made\ndone\n")


def test_a_set_up_that_fails_the_second_time_ends_the_run_by_that_name(at_desk: AtDesk) -> None:
    once = "test ! -e ../made && touch ../made"

    async def work(at: Harness) -> None:
        row = await at.run("run-1", 1, policy=Policy.model_validate({**CHECKS, "setup": once}))
        tree = await attempted(at, "run-1")
        shutil.rmtree(tree)
        await open_tree(at.context, row, await at.state("run-1"))

    with pytest.raises(Refused) as raised:
        at_desk(work)
    assert raised.value.reason == "setup_failed"
