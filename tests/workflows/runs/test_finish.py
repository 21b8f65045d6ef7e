"""However a run ends, what was written is kept, its slot is free, and its last word is said once."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from typing import Any

from bot.config import Policy
from bot.model import Phase, Status
from bot.model.events.runs import SessionFinished
from bot.model.reasons import ExplainedStop
from bot.reports.locale.reasons import english
from bot.rules.reasons import quoted
from bot.workflows.context import Loop
from bot.workflows.kernel import fail_run, settle_run, step_run
from bot.workflows.maintenance.cleanup import sweep
from bot.workflows.runs.begin import begin_run
from bot.workflows.runs.finish import finish, remove_tree, save_work
from bot.workflows.runs.loop import FIX_RUN
from bot.workflows.runs.package import package, review
from bot.workspace.git.command import git
from tests.machine import PATIENCE_S
from tests.workflows.conftest import Harness
from tests.workflows.first_attempt import CHECKS, attempted

AtDesk = Callable[..., Any]


def test_what_an_interrupted_end_had_salvaged_is_still_named(at_desk: AtDesk) -> None:
    """G-6."""

    async def work(at: Harness) -> tuple[str | None, bool, list[str]]:
        row = await at.run("run-1", 1)
        tree = await attempted(at, "run-1")
        await save_work(at.context, row, await at.state("run-1"), Status.FAILED)
        await remove_tree(at.context.mirror(row.spec.on_github), at.context.tree_path(row))  # and then the process died
        await settle_run(at.context, FIX_RUN, "run-1")
        state = await at.state("run-1")
        assert "+42\n" in state.unfinished and "--- a/answer.txt" in state.unfinished
        return state.salvage_ref, tree.parent.exists(), [str((await at.row("run-1")).status)]

    assert at_desk(work) == ("refs/mendbot/salvage/run-1", False, ["cancelled"])


def test_a_cancel_that_came_after_the_pull_request_is_too_late(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[Status, ExplainedStop | None]:
        row = await at.run("run-1", at.issue())
        await attempted(at, "run-1")
        await review(at.context, row, await at.state("run-1"))
        await package(at.context, row, await at.state("run-1"))
        await at.runs.request_cancel("run-1", quoted("closed"))
        await settle_run(at.context, FIX_RUN, "run-1")
        return (await at.row("run-1")).status, (await at.state("run-1")).stop

    assert at_desk(work) == (Status.SUCCESS, None)


def test_settling_twice_says_the_last_word_once(at_desk: AtDesk) -> None:
    """G-5."""

    async def work(at: Harness) -> tuple[int, str]:
        await at.run("run-1", 1)
        await at.runs.request_cancel("run-1", quoted("ada took the label off"))
        for _ in range(2):
            await settle_run(at.context, FIX_RUN, "run-1")
        stop = (await at.state("run-1")).stop
        assert stop is not None
        return [event.type for event in await at.runs.events("run-1")].count("session_finished"), english(stop.details)

    assert at_desk(work) == (1, "ada took the label off")


def test_what_is_buried_without_clearing_up_is_cleared_by_the_janitor(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[bool, bool, int, bytes]:
        await at.run("run-1", 1)
        tree = await attempted(at, "run-1")
        kept = await sweep(at.context)
        await fail_run(at.context, FIX_RUN, "run-1", ExplainedStop.of("refused", quoted("no")), tidy=False)
        before = tree.exists()
        removed = await sweep(at.context)
        saved = await git("show", "refs/mendbot/salvage/run-1:answer.txt", git_dir=at.context.mirror(at.repo))
        return before, tree.exists(), removed - kept, saved

    assert at_desk(work) == (True, False, 1, b"42\n")


def test_a_worktree_whose_work_cannot_be_kept_stays_and_does_not_keep_the_bot_from_starting(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, str]:
        await at.run("run-1", 1)
        tree = await attempted(at, "run-1")
        await fail_run(at.context, FIX_RUN, "run-1", ExplainedStop.of("refused", quoted("no")), tidy=False)
        shutil.rmtree(at.context.mirror(at.repo) / "objects")  # so there is nowhere to save it to
        return await sweep(at.context), (tree / "answer.txt").read_text()

    assert at_desk(work) == (0, "42\n")


def test_a_broken_mirror_that_can_still_keep_the_work_does_not_hinder_its_removal(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, bool, bytes]:
        await at.run("run-1", 1)
        tree = await attempted(at, "run-1")
        await fail_run(at.context, FIX_RUN, "run-1", ExplainedStop.of("refused", quoted("no")), tidy=False)
        mirror = at.context.mirror(at.repo)
        head = (mirror / "HEAD").read_text()
        (mirror / "HEAD").write_text("broken")
        removed = await sweep(at.context)
        (mirror / "HEAD").write_text(head)
        saved = await git("show", "refs/mendbot/salvage/run-1:answer.txt", git_dir=mirror)
        return removed, tree.exists(), saved

    assert at_desk(work) == (1, False, b"42\n")


def test_an_interrupted_effect_ends_the_job_and_leaves_the_last_word_to_settle(at_desk: AtDesk) -> None:
    slow = Policy.model_validate({**CHECKS, "setup": "sleep 600"})

    async def work(at: Harness) -> tuple[bool, str, bool]:
        row = await at.run("run-1", 1, policy=slow)
        assert not (await step_run(at.context, FIX_RUN, "run-1")).done
        busy = asyncio.create_task(step_run(at.context, FIX_RUN, "run-1"))
        while "setup_started" not in [event.type for event in await at.runs.events("run-1")]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await at.runs.request_cancel("run-1", quoted("closed"))
        settling = asyncio.create_task(settle_run(at.context, FIX_RUN, "run-1"))
        at.context.control.signal("run-1")
        outcome = await asyncio.wait_for(busy, PATIENCE_S)
        await settling
        return outcome.done, (await at.row("run-1")).status, at.context.tree_path(row).exists()

    assert at_desk(work) == (True, Status.CANCELLED, False)


def test_another_processs_cancel_is_seen_within_two_seconds(at_desk: AtDesk) -> None:
    slow = Policy.model_validate({**CHECKS, "setup": "sleep 600"})

    async def work(at: Harness) -> bool:
        await at.run("run-1", 1, policy=slow)
        await step_run(at.context, FIX_RUN, "run-1")
        busy = asyncio.create_task(step_run(at.context, FIX_RUN, "run-1"))
        while "setup_started" not in [event.type for event in await at.runs.events("run-1")]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await at.runs.request_cancel("run-1", quoted("closed"))
        return (await busy).done

    assert at_desk(work) is True


def test_an_ended_run_is_not_worked_on_again(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[bool, int]:
        await at.run("run-1", 1)
        await at.runs.append("run-1", [SessionFinished(status=Status.FAILED)])
        outcome = await step_run(at.context, FIX_RUN, "run-1")
        return outcome.done, len(await at.runs.events("run-1"))

    assert at_desk(work) == (True, 1)


def test_phases_that_never_came_are_skipped(at_desk: AtDesk) -> None:
    """REQ-RUN-002."""

    async def work(at: Harness) -> dict[Phase, str]:
        row = await at.run("run-1", 1)
        await begin_run(at.context, row)
        await finish(at.context, row, await at.state("run-1"), Status.FAILED, None)
        return (await at.state("run-1")).phases

    phases = at_desk(work)
    assert phases[Phase.REVIEW] == phases[Phase.PACKAGING] == "skipped"


def test_the_result_is_told_before_the_tree_is_removed(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, bool, bool]:
        row = await at.run("run-1", 1)
        await begin_run(at.context, row)
        tree = at.context.tree_path(row)
        ending = asyncio.create_task(finish(at.context, row, await at.state("run-1"), Status.FAILED, None))
        await at.context.wake[Loop.RUN_REPORTS].wait()
        there, status = tree.parent.exists(), (await at.row("run-1")).status
        await ending
        return status, there, tree.parent.exists()

    assert at_desk(work) == (Status.FAILED, True, False)
