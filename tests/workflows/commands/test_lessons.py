"""What is known of a thread when somebody says `apply` or `retry`: a given change that turns a failed check green is
learned (REQ-RA-311), and what others are to blame for, or was done since, is left alone."""

from __future__ import annotations

import pytest

from bot.model import Status
from bot.model.events.runs import CheckEnded, SessionFinished
from tests.workflows.commands.command_scenario import DIFF, JUDGE, AtDesk, CommandScenario, Writer, on
from tests.workflows.commands.crash_points import DONE, mortal, struck
from tests.workflows.conftest import NAME

APPLY = f"/mendbot apply\n\n```diff\n{DIFF.format(41, 42)}```\n"


@pytest.mark.parametrize("place", ["issue", "pull"])
def test_a_given_change_that_turns_a_failed_check_green_is_learned(at_desk: AtDesk, place: str) -> None:
    """REQ-RA-311."""

    async def work(thread: CommandScenario) -> None:
        if place == "issue":
            thread.world.push_files(NAME, "main", {"check.py": JUDGE, "answer.txt": "41\n"}, "Break", "ada")
            thread.at.hands.append(Writer("40\n"))
            number = thread.at.issue(label="")
            await thread.say(number, "/mendbot fix max=1")
        else:
            thread.judge()
            number, _ = thread.pull()
        await thread.all()
        thread.at.hands.clear()
        assert await thread.at.context.stores.history.by_file("answer.txt", repo=NAME) == ()
        await thread.say(number, APPLY)
        await thread.all()
        (known,) = await thread.at.context.stores.history.by_file("answer.txt", repo=NAME)
        told = known.resolution
        assert (told.tool, told.resolved_by, told.author) == ("given", "ada", "ada")
        assert "+42" in (told.patch or "")

    on(at_desk, work)


def test_what_somebody_said_is_one_use_however_often_it_is_begun_and_another_use_when_said_again(
    at_desk: AtDesk,
) -> None:
    """REQ-RA-311, REQ-CMD-001: a crash between the record of how it was resolved and that of the command."""

    async def work(thread: CommandScenario) -> None:
        mortal(thread)
        thread.judge()
        number, _ = thread.pull()
        await thread.all()
        for uses in (1, 2):
            assert await struck(thread, number, "/mendbot resolved the answer is 42") == DONE
            (known,) = await thread.at.context.stores.history.by_file("answer.txt", repo=NAME)
            assert (known.resolution.resolved_by, known.use_count) == ("ada", uses)

    on(at_desk, work)


def test_a_given_change_is_not_blamed_for_what_fails_on_the_base_too(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.world.push_files(NAME, "main", {"check.py": JUDGE, "answer.txt": "41\n"}, "Break", "ada")
        number, _ = thread.pull(answer="40\n")
        await thread.all()
        await thread.say(number, APPLY)
        (row,) = await thread.at.runs.unfinished()
        assert row.spec.pull is not None
        assert row.spec.pull.tolerated.keys() == {"test"}

    on(at_desk, work)


def test_a_check_with_failures_of_the_base_alone_has_no_kind_of_failure(at_desk: AtDesk) -> None:
    """A check that counts as passed must not look like one that failed."""

    async def work(thread: CommandScenario) -> None:
        thread.world.push_files(NAME, "main", {"check.py": JUDGE, "answer.txt": "41\n"}, "Break", "ada")
        number, _ = thread.pull(answer="40\n")
        await thread.all()
        await thread.say(number, APPLY.replace("-41\n+42", "-40\n+39"))
        (row,) = await thread.at.runs.unfinished()
        await thread.all()
        ended = [event for event in await thread.at.runs.events(row.id) if isinstance(event, CheckEnded)]
        assert [event.stage for event in ended if event.step.tolerated] == ["test"]
        assert {(event.step.classification, event.classification) for event in ended} == {(None, None)}

    on(at_desk, work)


def test_retry_leaves_alone_what_another_run_did_since(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number, done = thread.at.issue(), thread.at.issue()
        thread.heard = len(thread.world.deliveries)
        for name, numbers, status in (("1", (number, done), Status.FAILED), ("2", (done,), Status.SUCCESS)):
            await thread.at.run(name, *numbers)
            await thread.at.runs.append(name, [SessionFinished(status=status)])
        await thread.say(number, "/mendbot retry")
        (burst,) = await thread.at.context.stores.candidates.bursts()
        assert burst.issues == (number,)

    on(at_desk, work)
