"""A crash between what a command does and the record of it: begun again, the command knows its own doing, and neither
does it twice nor is refused because of it."""

from __future__ import annotations

from tests.workflows.commands.command_scenario import DIFF, AtDesk, CommandScenario, on
from tests.workflows.commands.crash_points import DONE, mortal, settle_and_group, struck
from tests.workflows.conftest import NAME

APPLY = f"/mendbot apply\n\n```diff\n{DIFF.format(41, 42)}```\n"


def test_on_an_issue_each_verb_that_was_killed_is_done_once_and_not_refused(at_desk: AtDesk) -> None:
    """REQ-CMD-001."""

    async def work(thread: CommandScenario) -> None:
        async def working() -> list[tuple[int, ...]]:
            await settle_and_group(thread)
            return sorted(threads for threads, _ in await thread.runs())

        mortal(thread)
        number, other = thread.at.issue(label=""), thread.at.issue(label="")
        assert await struck(thread, number, "/mendbot fix") == DONE
        assert await working() == [(number,)]
        assert await struck(thread, number, f"/mendbot group add #{other}") == DONE
        assert await working() == [(number, other)]
        assert await struck(thread, number, f"/mendbot group remove #{other}") == DONE
        assert await working() == [(number,), (other,)]
        assert await struck(thread, number, "/mendbot cancel") == DONE
        assert await working() == [(other,)]
        for text in ("/mendbot retry", "/mendbot fix max=2", APPLY):
            assert await struck(thread, number, text) == DONE
            assert await working() == [(number,), (other,)]
            assert await struck(thread, number, "/mendbot cancel") == DONE

    on(at_desk, work)


def test_on_a_pull_request_each_verb_that_was_killed_is_done_once_and_not_refused(at_desk: AtDesk) -> None:
    """REQ-CMD-001."""

    async def work(thread: CommandScenario) -> None:
        mortal(thread)
        thread.judge()
        number, _ = thread.pull()
        await thread.all()
        for verb in ("check", "retest"):
            assert await struck(thread, number, f"/mendbot {verb}") == DONE
            assert len(await thread.checks(number)) == 1
            assert await struck(thread, number, "/mendbot cancel") == DONE
            assert await thread.checks(number) == ()
        assert await struck(thread, number, "/mendbot retest") == DONE
        await thread.work("pull")
        assert await struck(thread, number, "/mendbot fix") == DONE
        assert [threads for threads, _ in await thread.runs()] == [(number,)]

    on(at_desk, work)


def test_an_approval_that_was_killed_stays_the_one_of_its_commit(at_desk: AtDesk) -> None:
    """T11."""

    async def work(thread: CommandScenario) -> None:
        mortal(thread)
        thread.world.create_user("mallory")
        number, sha = thread.fork("mallory")
        await thread.hear()

        async def push(_: CommandScenario) -> None:
            copy = f"mallory/{NAME.split('/')[1]}"
            thread.world.push_files(copy, "feature", {"answer.txt": "40\n"}, "More", "mallory")

        assert await struck(thread, number, f"/mendbot ok-to-test {sha}", push) == DONE
        approvals = thread.at.context.stores.approvals
        assert await approvals.approved(thread.at.repo, number, sha) == "ada"
        (head,) = [pull.head_sha for pull in thread.world.pulls(NAME) if pull.number == number]
        assert head != sha
        assert await approvals.approved(thread.at.repo, number, head) is None

    on(at_desk, work)


def test_the_words_of_a_command_before_the_crash_stand_beside_those_after_it(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        mortal(thread)
        number = thread.at.issue(label="")
        verbs = ("resume", "pause", "history a.py", "history b.py", "resume")
        text = "\n\n".join(f"/mendbot {verb}" for verb in verbs)
        assert await struck(thread, number, text) == ["eyes", "confused"]
        reply = thread.told(number, "reply")
        assert [reply.count(words) for words in ("nothing is paused here", "Paused:", "The pause is over")] == [1, 1, 1]
        assert all(name in thread.told(number, "history") for name in ("a.py", "b.py"))

    on(at_desk, work)


def test_where_no_word_can_be_said_what_was_asked_is_done_all_the_same(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        thread.world.faults.add("POST", rf"/repos/{NAME}/issues/{number}/comments", status=403, times=99)
        comment = await thread.say(number, "/mendbot status\n\n/mendbot fxi\n\n/mendbot pause")
        assert await thread.at.context.stores.threads.paused(thread.at.repo, number) == "ada"
        assert thread.reactions(number, comment) == ["eyes", "confused"]

    on(at_desk, work)
