"""A run whose worktree git cannot read ends by the name of the file; its slot is free, what is lost is said."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.app.build import jobs
from bot.config import Policy
from bot.model import Status
from bot.model.reasons import ExplainedStop
from bot.reports.locale.reasons import english
from bot.reports.runs.issue_comment import issue_comment
from bot.rules.reasons import quoted
from bot.rules.runs.state import RunState
from bot.workflows.kernel import fail_run
from bot.workflows.maintenance.cleanup import sweep
from bot.workflows.reporting.run_view import view_of
from bot.workflows.runs.loop import FIX_RUN
from bot.workspace.git.command import git
from bot.workspace.worktree.registry import entries
from tests.workflows.conftest import Harness, ScriptedAgent
from tests.workflows.first_attempt import attempted

AtDesk = Callable[..., Any]

TRAP = "python3 -c \"import os; os.makedirs('made/deep', exist_ok=True); os.mkfifo('made/deep/.gitignore')\""


def mends(tree: Path) -> None:
    (tree / "answer.txt").write_text("42\n")


async def worked(at: Harness, run_id: str) -> RunState:
    step = jobs(at.context)["fix"][1]
    while not (await step({"run_id": run_id}, 0)).done:
        continue
    return await at.state(run_id)


def test_only_the_run_ends_whose_check_made_a_pipe_of_the_ignore_file(at_desk: AtDesk) -> None:
    trap = Policy.model_validate({"checks": {"test": {"command": TRAP + "; exit 1"}}})

    async def work(at: Harness) -> tuple[RunState, RunState, tuple[object, ...]]:
        at.hands = [ScriptedAgent(mends)]
        await at.run("run-1", at.issue(), policy=trap)
        await at.run("run-2", at.issue(title="Another", body="In README.md"))
        one, other = await asyncio.gather(worked(at, "run-1"), worked(at, "run-2"))
        return one, other, await entries(at.context.mirror(at.repo))

    one, other, held = at_desk(work)
    assert one.finished is Status.FAILED and one.stop is not None
    assert one.stop.reason == "unreadable_tree"
    assert "`made/deep/.gitignore` is a named pipe" in english(one.stop.details)
    assert (other.finished is not None and other.stop is None) or other.stop.reason != "unreadable_tree"
    assert held == ()


def test_a_check_that_digs_is_no_fault_of_the_bots(at_desk: AtDesk) -> None:
    dig = (
        "import os; at = os.open('.', 0)\n"
        "for _ in range(1500): os.mkdir('d', dir_fd=at); at, old = os.open('d', 0, dir_fd=at), at; os.close(old)\n"
        "print('nothing.py:1:1: E501 long'); raise SystemExit(1)"
    )
    digs = Policy.model_validate({"checks": {"lint": {"command": ["python3", "-c", dig]}}})

    async def work(at: Harness) -> tuple[RunState, tuple[object, ...]]:
        at.hands = [ScriptedAgent(mends)]
        await at.run("run-1", at.issue(), policy=digs)
        return await worked(at, "run-1"), await entries(at.context.mirror(at.repo))

    state, held = at_desk(work)
    assert state.finished is Status.FAILED and state.stop is not None
    assert state.stop.reason not in ("internal_error", "gave_up")
    assert held == ()


def test_what_is_lost_is_said_on_the_run_and_in_its_comment(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, str, bytes, tuple[object, ...]]:
        await at.run("run-1", at.issue())
        tree = await attempted(at, "run-1")
        (tree / "sub").mkdir()
        os.mkfifo(tree / "sub/.gitattributes")
        with (tree / "sub/huge.bin").open("wb") as file:
            file.truncate(100 << 20)
        await fail_run(at.context, FIX_RUN, "run-1", ExplainedStop.of("refused", quoted("no")))
        view = view_of(await at.row("run-1"), await at.state("run-1"))
        mirror = at.context.mirror(at.repo)
        saved = await git("show", "refs/mendbot/salvage/run-1:answer.txt", git_dir=mirror)
        return issue_comment(view, "en"), issue_comment(view, "ko"), saved, await entries(mirror)

    in_english, korean, saved, held = at_desk(work)
    assert "These files of the unfinished change could not be saved: `sub/huge.bin`." in in_english
    assert "보관하지 못했습니다: `sub/huge.bin`." in korean
    assert "refs/mendbot/salvage/run-1" in in_english
    assert saved == b"42\n" and held == ()


def test_what_the_janitor_cannot_save_is_said_too(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, str, bool, bool]:
        await at.run("run-1", at.issue())
        tree = await attempted(at, "run-1")
        await fail_run(at.context, FIX_RUN, "run-1", ExplainedStop.of("refused", quoted("no")), tidy=False)
        before = (await at.row("run-1")).version
        (tree / ".gitattributes").write_text("*.txt working-tree-encoding=NO-SUCH\n")
        with (tree / "huge.txt").open("wb") as file:
            file.truncate(100 << 20)
        removed = await sweep(at.context)
        view = view_of(await at.row("run-1"), await at.state("run-1"))
        again = (await at.row("run-1")).version
        return removed, issue_comment(view, "en"), tree.exists(), again > before

    removed, comment, exists, to_be_told = at_desk(work)
    assert (removed, exists, to_be_told) == (1, False, True)
    assert "could not be saved: `huge.txt`." in comment
