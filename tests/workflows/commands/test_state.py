"""What commands settle: who is in a group, what is paused, which commit of an outsider may run (T11)."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.workflows.kernel import step_run
from bot.workflows.runs.loop import FIX_RUN
from tests.workflows.commands.command_scenario import AtDesk, CommandScenario, Writer, on
from tests.workflows.conftest import NAME

DONE, NOT_DONE = ["eyes", "rocket"], ["eyes", "confused"]


async def settled(thread: CommandScenario) -> None:
    """What was stopped has ended, and what was released is grouped."""
    await thread.hear()
    await thread.work("settle")
    await thread.gather()


async def group_of(thread: CommandScenario, *titles: str) -> list[int]:
    """Issues that are grouped together, with a run that waits to begin."""
    numbers = [thread.at.issue(title=title) for title in titles or ("It is wrong", "It is wrong again")]
    await thread.hear()
    await thread.gather()
    return numbers


def test_split_gives_an_issue_a_run_of_its_own(at_desk: AtDesk) -> None:
    """REQ-WF-007."""

    async def work(thread: CommandScenario) -> None:
        one, two, three = await group_of(thread, "It is wrong", "It is wrong again", "It is wrong still")
        assert await thread.runs() == [((one, two, three), f"fix/issue-{one}-{two}-{three}")]
        comment = await thread.say(two, "/mendbot group split")
        assert thread.reactions(two, comment) == DONE
        assert await thread.runs() == []
        await settled(thread)
        made = dict(await thread.runs())
        assert made == {(two,): f"fix/issue-{two}", (one, three): f"fix/issue-{one}-{three}"}
        shown = await thread.say(two, "/mendbot group show")
        assert thread.reactions(two, shown) == DONE
        assert f"#{two}" in thread.told(two, "group")
        thread.at.hands.append(Writer())
        await thread.all()
        assert sorted(pull.closes for pull in thread.world.pulls(NAME)) == [(one, three), (two,)]

    on(at_desk, work, quiet_seconds=0.0)


def test_remove_takes_the_named_issues_out(at_desk: AtDesk) -> None:
    """REQ-WF-007."""

    async def work(thread: CommandScenario) -> None:
        one, two, three = await group_of(thread, "It is wrong", "It is wrong again", "It is wrong still")
        comment = await thread.say(one, f"/mendbot group remove #{two},#{three}")
        assert thread.reactions(one, comment) == DONE
        await settled(thread)
        assert [numbers for numbers, _ in sorted(await thread.runs())] == [(one,), (two,), (three,)]
        stranger = thread.at.issue(label="")
        comment = await thread.say(one, f"/mendbot group remove #{stranger}")
        assert thread.reactions(one, comment) == NOT_DONE
        assert f"#{stranger}: not in a group" in thread.told(one, "reply")

    on(at_desk, work)


def test_add_joins_issues_whether_they_run_wait_or_were_never_asked_for(at_desk: AtDesk) -> None:
    """REQ-WF-007."""

    async def work(thread: CommandScenario) -> None:
        one, two = [(await group_of(thread, "It is wrong"))[0] for _ in range(2)]
        assert [numbers for numbers, _ in await thread.runs()] == [(one,), (two,)]
        fresh = thread.at.issue(label="")
        comment = await thread.say(one, f"/mendbot group add #{two} #{fresh}")
        assert thread.reactions(one, comment) == DONE
        assert await thread.runs() == []
        await settled(thread)
        assert await thread.runs() == [((one, two, fresh), f"fix/issue-{one}-{two}-{fresh}")]
        again = await thread.say(one, f"/mendbot group add #{two}")
        assert thread.reactions(one, again) == NOT_DONE

    on(at_desk, work)


def test_adding_one_by_one_from_whichever_issue_makes_one_group(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        one, two, three = (thread.at.issue(label="") for _ in range(3))
        await thread.say(one, f"/mendbot group add #{two}")
        await thread.say(two, f"/mendbot group add #{three}")
        await settled(thread)
        assert [numbers for numbers, _ in await thread.runs()] == [(one, two, three)]

    on(at_desk, work)


def test_an_issue_that_is_closed_or_no_issue_cannot_be_added(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        one, gone = thread.at.issue(label=""), thread.at.issue(label="")
        thread.world.close_issue(NAME, gone, "ada")
        pull, _ = thread.pull()
        await thread.hear()
        for number, why in ((gone, "is closed"), (pull, "is a pull request")):
            comment = await thread.say(one, f"/mendbot group add #{number}")
            assert thread.reactions(one, comment) == NOT_DONE
            assert f"#{number} {why}" in thread.told(one, "reply")
        assert await thread.at.waiting() == ()

    on(at_desk, work)


def test_a_paused_fix_stops_before_its_next_step_and_says_so(at_desk: AtDesk) -> None:
    """REQ-CMD-002."""

    async def work(thread: CommandScenario) -> None:
        thread.at.hands.append(Writer())
        (number,) = await group_of(thread, "It is wrong")
        (row,) = await thread.at.runs.unfinished()
        await step_run(thread.at.context, FIX_RUN, row.id)
        events = len(await thread.at.runs.events(row.id))
        assert thread.reactions(number, await thread.say(number, "/mendbot pause")) == DONE
        for _ in range(3):
            outcome = await step_run(thread.at.context, FIX_RUN, row.id)
            assert (outcome.done, outcome.wait_s > 0) == (False, True)
        since = (await thread.at.runs.events(row.id))[events:]
        assert [event.type for event in since] == ["paused"]
        await thread.tell()
        told = thread.told(number, "issue")
        assert "by `ada`. Comment `/mendbot resume` on" in told
        assert "automatically" not in told  # nothing but the command ends a pause
        assert thread.reactions(number, await thread.say(number, "/mendbot resume")) == DONE
        await thread.all()
        assert len(thread.world.pulls(NAME)) == 1

    on(at_desk, work)


def test_a_label_on_a_paused_issue_waits_and_holds_up_no_other(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.at.hands.append(Writer())
        paused = thread.at.issue(label="")
        await thread.say(paused, "/mendbot pause")
        thread.world.add_label(NAME, paused, "auto-fix", "ada")
        (other,) = await group_of(thread, "It is wrong")
        assert sorted(numbers for numbers, _ in await thread.runs()) == [(paused,), (other,)]
        for row in await thread.at.runs.unfinished():
            for _ in range(3):
                await step_run(thread.at.context, FIX_RUN, row.id)
            started = (await thread.at.row(row.id)).waiting_for is None
            assert started is (row.spec.threads == (other,))
        await thread.tell()
        assert "/mendbot resume" in thread.told(paused, "issue")

    on(at_desk, work)


def test_a_new_head_of_a_paused_pull_request_is_checked_when_it_is_resumed(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, _ = thread.pull()
        await thread.all()
        await thread.say(number, "/mendbot pause")
        head = thread.world.push_files(NAME, "feature", {"answer.txt": "42\n"}, "Again", "ada")
        await thread.all()
        assert await thread.at.context.stores.pulls.latest_of(thread.at.repo, number, head) is None
        comment = await thread.say(number, "/mendbot resume")
        assert thread.reactions(number, comment) == DONE
        assert [row.spec.head_sha for row in await thread.checks(number)] == [head]

    on(at_desk, work)


def test_resume_where_nothing_is_paused_says_so(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        comment = await thread.say(number, "/mendbot resume")
        assert thread.reactions(number, comment) == NOT_DONE

    on(at_desk, work)


def test_ok_to_test_lets_one_commit_run_and_no_later_one(at_desk: AtDesk) -> None:
    """H-3."""

    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, sha = thread.fork("mallory")
        await thread.hear()
        assert await thread.checks(number) == ()
        comment = await thread.say(number, f"/mendbot ok-to-test {sha[:10]}")
        assert thread.reactions(number, comment) == DONE
        assert [row.spec.head_sha for row in await thread.checks(number)] == [sha]
        await thread.all()
        later = thread.world.push_files("mallory/tiny", "feature", {"answer.txt": "0\n"}, "More", "mallory")
        await thread.hear()
        assert await thread.checks(number) == ()
        old = await thread.say(number, f"/mendbot ok-to-test {sha[:10]}")
        assert thread.reactions(number, old) == NOT_DONE
        assert later[:12] in thread.told(number, "reply")
        assert await thread.checks(number) == ()

    on(at_desk, work)


def test_an_approval_without_a_commit_is_of_the_head_that_was_known(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, sha = thread.fork("mallory")
        await thread.hear()
        comment = await thread.say(number, "/mendbot ok-to-test")
        assert thread.reactions(number, comment) == DONE
        assert [row.spec.head_sha for row in await thread.checks(number)] == [sha]

    on(at_desk, work)


def test_a_push_between_the_comment_and_its_obedience_is_not_approved(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, _ = thread.fork("mallory")
        await thread.hear()
        comment = thread.world.comment(NAME, number, "/mendbot ok-to-test", "ada")
        thread.world.push_files("mallory/tiny", "feature", {"answer.txt": "0\n"}, "Evil", "mallory")
        await thread.hear()
        await thread.work("command")
        assert thread.reactions(number, comment) == NOT_DONE
        assert await thread.checks(number) == ()

    on(at_desk, work)


def test_an_approval_that_is_delivered_after_the_push_is_of_no_commit(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, _ = thread.fork("mallory")
        await thread.hear()
        said = datetime.now(UTC)
        thread.world.push_files("mallory/tiny", "feature", {"answer.txt": "0\n"}, "Evil", "mallory")
        await thread.hear()
        comment = await thread.say(number, "/mendbot ok-to-test")
        told = [one for one in thread.world.comments(NAME, number) if one.id == comment]
        if datetime.fromisoformat(told[0].created_at) <= said.replace(microsecond=0):  # within the second of the push
            assert thread.reactions(number, comment) == NOT_DONE
            assert await thread.checks(number) == ()

    on(at_desk, work)
