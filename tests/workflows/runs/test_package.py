"""What is pushed is what the attempts changed and the checks judged: nothing of set-up, of agents' commits, of ours."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.config import Policy
from bot.reports.locale.reasons import english
from bot.rules.runs.next_action import Implement
from bot.workflows.runs.begin import begin_run
from bot.workflows.runs.implement import implement
from bot.workflows.runs.package import package, review
from bot.workspace.git.command import git
from bot.workspace.mirror import mirror as mirrors
from tests.workflows.conftest import NAME, Harness, ScriptedAgent
from tests.workflows.first_attempt import CHECKS, SET_UP, attempted, mend

AtDesk = Callable[..., Any]


def test_what_set_up_left_about_is_no_part_of_the_change(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[tuple[str, ...], frozenset[str]]:
        row = await at.run("run-1", 1, policy=SET_UP)
        await attempted(at, "run-1", lambda tree: (tree / "answer.txt").write_text("40\n") and None)
        at.hands = [ScriptedAgent(mend)]
        await implement(at.context, row, await at.state("run-1"), Implement(attempt=2))
        shown = (await at.state("run-1")).changed_paths
        await review(at.context, row, await at.state("run-1"))
        await package(at.context, row, await at.state("run-1"))
        state = await at.state("run-1")
        assert state.commit_sha is not None
        files = await mirrors.list_files(at.context.mirror(at.repo), state.commit_sha)
        return shown, frozenset(files) - {"check.py", ".gitignore", ".github/mendbot.yml"}

    assert at_desk(work) == (("answer.txt",), frozenset({"answer.txt"}))


def test_a_commit_that_the_agent_made_itself_is_not_what_is_pushed(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, str]:
        async def commit(tree: Path) -> None:
            for args in (("add", "-A"), ("commit", "-q", "-m", "I did it")):
                await git("-c", "user.name=a", "-c", "user.email=a@example.org", *args, cwd=tree)

        class Committer(ScriptedAgent):
            async def propose(self, task: Any, tree: Path) -> Any:
                offered = await super().propose(task, tree)
                await commit(tree)
                return offered

        row = await at.run("run-1", 1)
        await begin_run(at.context, row)
        at.hands = [Committer(mend)]
        await implement(at.context, row, await at.state("run-1"), Implement(attempt=1))
        await review(at.context, row, await at.state("run-1"))
        await package(at.context, row, await at.state("run-1"))
        state = await at.state("run-1")
        log = await git(
            "log", "--format=%s", f"{state.base_sha}..{state.commit_sha}", git_dir=at.context.mirror(at.repo)
        )
        return log.decode().strip(), str(at.github.world.branches(NAME)["fix/issue-1"] == state.commit_sha)

    assert at_desk(work) == ("Proposed: Issue 1", "True")  # no check ran, so nothing is shown


def test_a_change_that_holds_a_secret_of_ours_is_refused(at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "key-" + "0a1b2c3d" * 4
    monkeypatch.setenv("MODEL_KEY", secret)

    async def work(at: Harness) -> tuple[tuple[str, ...], str]:
        await at.run("run-1", 1)
        tree = await attempted(at, "run-1", lambda tree: (tree / "answer.txt").write_text(f"42 {secret}\n") and None)
        return tuple(map(english, (await at.state("run-1")).rejections)), (tree / "answer.txt").read_text()

    rejections, left = at_desk(work, agent_env=("MODEL_KEY",))
    assert "holds a credential" in rejections[0] and secret not in rejections[0]
    assert left == "41\n"


def test_an_agent_is_told_no_more_attempts_than_there_will_be(at_desk: AtDesk) -> None:
    told: list[int] = []

    async def work(at: Harness) -> None:
        class Asked(ScriptedAgent):
            async def propose(self, task: Any, tree: Path) -> Any:
                told.append(task.max_attempts)
                return await super().propose(task, tree)

        policy = Policy.model_validate({**CHECKS, "stop": {"max_iterations": 2}})
        row = await at.run("run-1", 1, policy=policy, max_attempts=5)
        await begin_run(at.context, row)
        at.hands = [Asked(mend)]
        await implement(at.context, row, await at.state("run-1"), Implement(attempt=1))

    at_desk(work)
    assert told == [2]


def test_packaging_done_again_after_a_crash_makes_one_commit_and_one_pull_request(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, bool]:
        number = at.issue()
        row = await at.run("run-1", number)
        await attempted(at, "run-1")
        await review(at.context, row, await at.state("run-1"))
        reviewed = await at.state("run-1")
        await package(at.context, row, reviewed)
        shutil.rmtree(at.context.tree_path(row))
        await package(at.context, row, reviewed)  # as if nothing of the first had been recorded
        pulls = at.github.world.pulls(NAME)
        return len(pulls), pulls[0].head_sha == (await at.state("run-1")).commit_sha

    assert at_desk(work) == (1, True)
