"""A crash between what a command does and the record of it: begun again, the command knows its own doing, and neither
does it twice nor is refused because of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from bot.app.build import jobs
from bot.store.commands import Commands
from bot.store.database import Database
from tests.workflows.commanded import DIFF, AtDesk, Thread, on
from tests.workflows.conftest import NAME

DONE = ["eyes", "rocket"]
APPLY = f"/mendbot apply\n\n```diff\n{DIFF.format(41, 42)}```\n"


class Killed(BaseException):
    """The process ends here: nothing catches it."""


class Mortal(Commands):
    """The record of commands, whose process is killed once for each before it is written."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.died: set[str] = set()

    async def finish(self, id: str, outcome: str) -> None:  # noqa: A002  # as in the store
        if id not in self.died:
            self.died.add(id)
            raise Killed
        await super().finish(id, outcome)


def mortal(thread: Thread) -> None:
    context = thread.at.context
    thread.at.context = replace(context, stores=replace(context.stores, commands=Mortal(thread.at.database)))


async def settle_and_group(thread: Thread) -> None:
    await thread.work("settle", "settle_pull")
    await thread.gather()


async def struck(
    thread: Thread, number: int, text: str, meanwhile: Callable[[Thread], Awaitable[object]] = settle_and_group
) -> list[str]:
    """The reactions to a comment each of whose commands is obeyed, killed, and begun again; `meanwhile` is what the
    rest of the worker does in between."""
    comment = thread.world.comment(NAME, number, text, "ada")
    await thread.hear()
    (job,) = [job for job in thread.at.jobs if job.kind == "command"]
    thread.at.jobs.remove(job)
    step = jobs(thread.at.context)["command"][1]
    for _ in range(text.count("/mendbot")):
        with pytest.raises(Killed):
            await step(job.args, 0)
        await meanwhile(thread)
    assert (await step(job.args, 0)).done
    return thread.reactions(number, comment)


def test_on_an_issue_each_verb_that_was_killed_is_done_once_and_not_refused(at_desk: AtDesk) -> None:
    """REQ-CMD-001."""

    async def work(thread: Thread) -> None:
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

    async def work(thread: Thread) -> None:
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

    async def work(thread: Thread) -> None:
        mortal(thread)
        thread.world.create_user("mallory")
        number, sha = thread.fork("mallory")
        await thread.hear()

        async def push(_: Thread) -> None:
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
    async def work(thread: Thread) -> None:
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
    async def work(thread: Thread) -> None:
        number = thread.at.issue(label="")
        thread.world.faults.add("POST", rf"/repos/{NAME}/issues/{number}/comments", status=403, times=99)
        comment = await thread.say(number, "/mendbot status\n\n/mendbot fxi\n\n/mendbot pause")
        assert await thread.at.context.stores.threads.paused(thread.at.repo, number) == "ada"
        assert thread.reactions(number, comment) == ["eyes", "confused"]

    on(at_desk, work)
