"""A fix that is ready reaches whoever asked for it: GitHub notifies of a request for review, and of no edit."""

from __future__ import annotations

import json

import pytest

from bot.model import Status
from bot.workflows.reporting.publish_run import publish
from bot.workflows.runs.form_groups import gather
from tests.run_events import run_event
from tests.workflows.commands.command_scenario import AtDesk, CommandScenario, on
from tests.workflows.conftest import NAME, Harness
from tests.workflows.reporting.reported_runs import finished, started


def asked(at: Harness) -> list[str]:
    """Whom GitHub notified, in that order, each time that it did."""
    found = [one for one in at.github.world.deliveries if one.action == "review_requested"]
    return [_login(one.payload) for one in found]


def _login(payload: bytes) -> str:
    return str(json.loads(payload)["requested_reviewer"]["login"])


async def succeed(at: Harness, run_id: str, by: str = "mendbot[bot]") -> int:
    """The run's pull request, which is there on GitHub."""
    at.github.world.push_files(NAME, f"fix/{run_id}", {"answer.txt": "42\n"}, "Fix", "ada")
    number = int(at.github.world.open_pull(NAME, f"fix/{run_id}", "Fix", "Fixes it.", by))
    head = next(pull.head_sha for pull in at.github.world.pulls(NAME) if pull.number == number)
    pull = {"number": number, "url": f"https://github.example/{NAME}/pull/{number}"}
    done = run_event("phase_completed", "packaging", commit=head, pull=pull)
    await at.runs.append(run_id, [started(), done, finished(Status.SUCCESS)])
    return number


async def tell(at: Harness, run_id: str) -> None:
    await publish(at.context, await at.row(run_id))


def test_whoever_labelled_the_issue_is_asked_for_a_review_once(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        at, world = thread.at, thread.world
        world.create_user("bob")
        world.set_permission(NAME, "bob", "write")
        number = at.issue(label="")
        world.add_label(NAME, number, "auto-fix", "bob")
        await thread.hear()
        await thread.gather()
        (row,) = await at.runs.unfinished()
        await succeed(at, row.id)
        for _ in range(2):
            await tell(at, row.id)
        assert asked(at) == ["bob"]
        assert at.requests("POST", "/requested_reviewers") == 1

    on(at_desk, work)


def test_whoever_gave_the_command_is_asked(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        at = thread.at
        for text in ("/mendbot fix", "/mendbot fix max=2"):
            number = at.issue(label="")
            await thread.say(number, text)
            await thread.gather()
            row = (await at.runs.unfinished())[-1]
            assert row.spec.threads == (number,)
            await succeed(at, row.id)
            await tell(at, row.id)
        assert asked(at) == ["ada", "ada"]

    on(at_desk, work)


def test_an_issue_of_a_group_that_was_split_keeps_its_labeller(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        at = thread.at
        first, second = at.issue(), at.issue()
        await thread.hear()
        await thread.gather()
        (row,) = await at.runs.unfinished()
        assert set(row.spec.threads) == {first, second}
        thread.world.remove_label(NAME, first, "auto-fix", "ada")
        await thread.hear()
        await thread.work("settle")
        await gather(at.context, at.repo, (second,))
        row = (await at.runs.unfinished())[-1]
        assert row.spec.threads == (second,)
        assert await at.runs.asked_by(row.id) == ("ada",)

    on(at_desk, work)


@pytest.mark.parametrize("status", [403, 404, 422])
def test_a_refused_request_is_no_failure(at_desk: AtDesk, status: int) -> None:
    async def work(thread: CommandScenario) -> None:
        at = thread.at
        number = at.issue()
        await thread.hear()
        await thread.gather()
        (row,) = await at.runs.unfinished()
        await succeed(at, row.id)
        at.github.world.faults.add("POST", f"/repos/{NAME}/pulls/.*/requested_reviewers", status=status, times=9)
        for _ in range(2):
            await tell(at, row.id)
        assert at.requests("POST", "/requested_reviewers") == 1
        assert len(at.github.world.comments(NAME, number)) == 1

    on(at_desk, work)


def test_a_request_that_was_made_before_a_crash_is_not_made_again(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        at = thread.at
        at.issue()
        await thread.hear()
        await thread.gather()
        (row,) = await at.runs.unfinished()
        pull = await succeed(at, row.id)
        # as the process did before it ended, without a note of it
        await at.context.github.repository(at.repo).request_review(pull, "ada")
        await tell(at, row.id)
        assert asked(at) == ["ada"]
        assert at.requests("POST", "/requested_reviewers") == 1

    on(at_desk, work)


def test_the_pull_requests_author_is_refused_by_github_and_nothing_fails(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        at = thread.at
        number = at.issue()
        await thread.hear()
        await thread.gather()
        (row,) = await at.runs.unfinished()
        await succeed(at, row.id, by="ada")
        await tell(at, row.id)
        assert asked(at) == []
        assert len(at.github.world.comments(NAME, number)) == 1

    on(at_desk, work)
