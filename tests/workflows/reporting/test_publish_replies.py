"""A reply stands under its question, and a result is a comment that notifies: whatever crashes in between, nothing is
said twice and nothing is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.errors import Transient
from bot.model import Repo, Status
from bot.store.runs.reported import Published, Reports
from bot.workflows.reporting.publish_run import publish
from tests.workflows.commands.command_scenario import AtDesk, CommandScenario, on
from tests.workflows.commands.crash_points import Killed, mortal, struck
from tests.workflows.conftest import NAME, Harness
from tests.workflows.reporting.reported_runs import finished, started


def texts(at: Harness, number: int) -> list[str]:
    return [one.body for one in at.github.world.comments(NAME, number)]


def edits(at: Harness) -> int:
    return at.requests("PATCH", "/issues/comments/")


def test_a_reply_comes_under_its_question_and_the_older_stays(at_desk: AtDesk) -> None:
    """REQ-CMD-002."""

    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        for text in ("/mendbot stauts", "Thanks.", "/mendbot hitsory"):
            await thread.say(number, text)
        question, first, _, other, second = texts(thread.at, number)
        assert question == "/mendbot stauts" and "stauts" in first
        assert other == "/mendbot hitsory" and "hitsory" in second and "stauts" not in second
        assert edits(thread.at) == 0

    on(at_desk, work)


def test_a_reply_that_is_the_last_comment_is_edited_in_place(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        question = await thread.say(number, "/mendbot stauts")
        thread.world.edit_comment(question, "/mendbot hitsory", "ada")
        await thread.hear()
        await thread.work("command")
        (said,) = thread.words(number)
        assert "hitsory" in said and "stauts" not in said

    on(at_desk, work)


def test_an_edited_question_above_somebodys_comment_gets_a_new_reply(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        question = await thread.say(number, "/mendbot stauts")
        thread.world.comment(NAME, number, "Hm.", "ada")
        thread.world.edit_comment(question, "/mendbot hitsory", "ada")
        await thread.hear()
        await thread.work("command")
        first, second = thread.words(number)
        assert "stauts" in first and "hitsory" in second
        assert texts(thread.at, number)[-1] == second

    on(at_desk, work)


def test_a_question_in_a_review_gets_a_reply_of_its_own(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number, _ = thread.pull()
        await thread.say(number, "/mendbot stauts")
        thread.world.review(NAME, number, "/mendbot hitsory", "ada")
        await thread.hear()
        await thread.work("command")
        first, second = thread.words(number)
        assert "stauts" in first and "hitsory" in second

    on(at_desk, work)


def test_a_reply_that_was_posted_before_a_crash_is_not_posted_again(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        mortal(thread)
        number = thread.at.issue(label="")

        async def chatter(_: CommandScenario) -> None:
            thread.world.comment(NAME, number, "Meanwhile.", "ada")
            # the process also died before it noted which comment was posted
            await thread.at.context.stores.reports.record(
                thread.at.repo, f"comment:{number}:help", Published(github_id=None, digest="")
            )

        await struck(thread, number, "/mendbot help", chatter)
        assert len(thread.words(number)) == 1
        assert edits(thread.at) == 0

    on(at_desk, work)


def test_a_new_run_reports_under_the_question_that_asked_for_it(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        number = at.issue()
        await at.run("run-1", number)
        await at.runs.append("run-1", [started(), finished(Status.CANCELLED)])
        await publish(at.context, await at.row("run-1"))
        at.github.world.comment(NAME, number, "/mendbot fix", "ada")
        await at.run("run-2", number)
        for drafts in ([], [started()]):
            await at.runs.append("run-2", drafts)
            await publish(at.context, await at.row("run-2"))
        first, _, second = texts(at, number)
        assert "run-1" in first and "run-2" in second

    at_desk(work)


def test_a_failure_is_posted_anew_and_its_status_comment_deleted(at_desk: AtDesk) -> None:
    """G-2: GitHub notifies nobody of an edit."""

    async def work(at: Harness) -> None:
        number = at.issue()
        await at.run("run-1", number)
        await publish(at.context, await at.row("run-1"))
        (status,) = at.github.world.comments(NAME, number)
        await at.runs.append("run-1", [started(), finished(Status.FAILED)])
        for _ in range(2):
            await publish(at.context, await at.row("run-1"))
        (result,) = at.github.world.comments(NAME, number)
        assert result.id > status.id and "❌" in result.body
        assert at.requests("POST", f"/issues/{number}/comments") == 2

    at_desk(work)


def test_success_and_cancellation_stay_edits(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        for status in (Status.SUCCESS, Status.CANCELLED):
            number, run_id = at.issue(), f"run-{status}"
            await at.run(run_id, number)
            await publish(at.context, await at.row(run_id))
            await at.runs.append(run_id, [started(), finished(status)])
            await publish(at.context, await at.row(run_id))
            assert at.requests("POST", f"/issues/{number}/comments") == 1
        assert at.requests("DELETE", "/issues/comments/") == 0

    at_desk(work)


def test_a_status_comment_that_is_gone_already_is_fine(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        number = at.issue()
        await at.run("run-1", number)
        await publish(at.context, await at.row("run-1"))
        (status,) = at.github.world.comments(NAME, number)
        at.github.world.delete_comment(status.id, "ada")
        await at.runs.append("run-1", [started(), finished(Status.FAILED)])
        await publish(at.context, await at.row("run-1"))
        assert len(texts(at, number)) == 1

    at_desk(work)


class Dying(Reports):
    """The record of what was told, whose process is killed before the result of a run is written."""

    async def record(self, repo: Repo, target: str, published: Published) -> None:
        if ".result:" in published.digest:
            raise Killed
        await super().record(repo, target, published)


@pytest.mark.parametrize("where", ["delete", "record"])
def test_a_failure_is_told_once_though_the_process_ends_between_its_writes(at_desk: AtDesk, where: str) -> None:
    """The process ends when the new comment is posted, before or after it hears that the old one is deleted."""

    async def work(at: Harness) -> None:
        number = at.issue()
        await at.run("run-1", number)
        await publish(at.context, await at.row("run-1"))
        await at.runs.append("run-1", [started(), finished(Status.FAILED)])
        if where == "delete":
            path = f"/repos/{NAME}/issues/comments/.*"
            at.github.world.faults.add("DELETE", path, status=502, after_effect=True, times=3)
            with pytest.raises(Transient):
                await publish(at.context, await at.row("run-1"))
        else:
            stores = replace(at.context.stores, reports=Dying(at.database))
            with pytest.raises(Killed):
                await publish(replace(at.context, stores=stores), await at.row("run-1"))
        at.github.world.comment(NAME, number, "Meanwhile.", "ada")
        await publish(at.context, await at.row("run-1"))
        ours = [body for body in texts(at, number) if "run-1" in body]
        assert len(ours) == 1 and "❌" in ours[0]

    at_desk(work)
