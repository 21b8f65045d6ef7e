"""Who is obeyed: the roles write, maintain and admin for everything that starts work, whoever GitHub lets do it for
what stops work, the author of a branch here for three verbs; silence for everybody else (T9, REQ-CMD-002)."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Sequence

import pytest

from bot.errors import UserError
from tests.workflows.commands.command_scenario import BOT, ROLES, WRITERS, AtDesk, CommandScenario, on
from tests.workflows.conftest import NAME

WHO = "sam"
FIX = "/mendbot fix"
Trigger = Callable[[CommandScenario, str], Awaitable[bool]]


async def _obeyed(thread: CommandScenario, comment: int | None, number: int) -> bool:
    """Whether what was just said became a job. Silence is whole: no reaction, no word, no job."""
    words = len(thread.words(number))
    await thread.hear()
    orders = [job for job in thread.at.jobs if job.kind == "command"]
    thread.at.jobs[:] = [job for job in thread.at.jobs if job.kind != "command"]
    reactions = thread.reactions(number, comment) if comment is not None else []
    if not orders:
        await thread.all()
        assert (reactions, len(thread.words(number))) == ([], words)
    else:
        assert comment is None or reactions == ["eyes"]
    return bool(orders)


async def label(thread: CommandScenario, who: str) -> bool:
    number = thread.at.issue(label="")
    thread.world.add_label(NAME, number, "auto-fix", who)
    await thread.hear()
    return number in await thread.at.waiting()


async def unlabel(thread: CommandScenario, who: str) -> bool:
    number = thread.at.issue()
    await thread.hear()
    assert number in await thread.at.waiting()
    thread.world.remove_label(NAME, number, "auto-fix", who)
    await thread.hear()
    return number not in await thread.at.waiting()


async def comment_on_issue(thread: CommandScenario, who: str) -> bool:
    number = thread.at.issue(label="")
    return await _obeyed(thread, thread.world.comment(NAME, number, FIX, who), number)


async def comment_on_pull(thread: CommandScenario, who: str) -> bool:
    number, _ = await _checked(thread)
    return await _obeyed(thread, thread.world.comment(NAME, number, "/mendbot check", who), number)


async def edited_comment(thread: CommandScenario, who: str) -> bool:
    number = thread.at.issue(label="")
    comment = thread.world.comment(NAME, number, "It is broken.", "ada")
    await thread.hear()
    thread.world.edit_comment(comment, f"It is broken.\n\n{FIX}", who)
    return await _obeyed(thread, comment, number)


async def review(thread: CommandScenario, who: str) -> bool:
    number, _ = await _checked(thread)
    thread.world.review(NAME, number, "/mendbot retest all", who)
    return await _obeyed(thread, None, number)


async def review_comment(thread: CommandScenario, who: str) -> bool:
    number, _ = await _checked(thread)
    comment = thread.world.review_comment(NAME, number, "/mendbot retest", who, path="answer.txt", line=1)
    return await _obeyed(thread, comment, number)


async def rerun_check(thread: CommandScenario, who: str) -> bool:
    number, sha = await _checked(thread)
    thread.world.rerequest_check_run(_check(thread, sha), who)
    return await _started(thread, number)


async def rerun_suite(thread: CommandScenario, who: str) -> bool:
    number, sha = await _checked(thread)
    thread.world.rerequest_check_suite(NAME, sha, who)
    return await _started(thread, number)


async def press_rerun_failed(thread: CommandScenario, who: str) -> bool:
    number, sha = await _checked(thread)
    thread.world.press_button(_check(thread, sha), "rerun_failed", who)
    return await _started(thread, number)


async def press_fix(thread: CommandScenario, who: str) -> bool:
    number, sha = await _checked(thread, _pull_for("fix", who))
    thread.world.press_button(_check(thread, sha), "fix", who)
    await thread.hear()
    return await thread.at.runs.open_run(thread.at.repo, number) is not None


async def press_cancel(thread: CommandScenario, who: str) -> bool:
    branch = _pull_for("cancel", who)
    if branch not in thread.pulls:
        thread.pulls[branch] = thread.pull(branch)
        await thread.hear()
        await thread.tell()
    number, sha = thread.pulls[branch]
    thread.world.press_button(_check(thread, sha), "cancel", who)
    await thread.hear()
    (row,) = await thread.checks(number)
    return row.cancel_because is not None


async def pull_of_a_fork(thread: CommandScenario, who: str) -> bool:
    number, _ = thread.fork(who)
    return await _started(thread, number)


def _pull_for(verb: str, who: str) -> str:
    """A branch: whoever may do it gets one of their own, those who may not share one."""
    return f"{verb}-for-{who}" if who.endswith(WRITERS) else f"{verb}-for-others"


async def _checked(thread: CommandScenario, branch: str = "feature") -> tuple[int, str]:
    """Somebody else's pull request, whose check has failed and said so; nothing is under way."""
    if branch not in thread.pulls:
        if not thread.pulls:
            thread.judge()
        thread.pulls[branch] = thread.pull(branch)
    await thread.all()
    return thread.pulls[branch]


async def _started(thread: CommandScenario, number: int) -> bool:
    await thread.hear()
    return bool(await thread.checks(number))


def _check(thread: CommandScenario, sha: str) -> int:
    return int([run.id for run in thread.world.check_runs(NAME, sha) if run.name == "mendbot / test"][-1])


ON_ISSUES = (label, comment_on_issue, edited_comment)
ON_A_PULL = (comment_on_pull, review, review_comment, rerun_check, rerun_suite, press_rerun_failed)
ON_PULLS_OF_THEIR_OWN = (press_fix, press_cancel, pull_of_a_fork)
GROUPS = (ON_ISSUES, ON_A_PULL, ON_PULLS_OF_THEIR_OWN)
"""Those of a group leave each other alone, so one repository serves them all."""
ALL = ("issues", "one pull", "pulls of their own")


async def _table(thread: CommandScenario, triggers: Iterable[Trigger]) -> dict[str, dict[str, bool]]:
    """Which roles each of these triggers obeys; refusals come first, so that nothing is under way meanwhile."""
    found: dict[str, dict[str, bool]] = {}
    for trigger in triggers:
        found[trigger.__name__] = {}
        for role in reversed(ROLES):
            who = f"{trigger.__name__}-{role}".replace("_", "-")
            thread.world.create_user(who)
            thread.world.set_permission(NAME, who, role)
            found[trigger.__name__][role] = await trigger(thread, who)
            thread.at.jobs[:] = [job for job in thread.at.jobs if job.kind == "pull"]
    return found


@pytest.mark.parametrize("triggers", GROUPS, ids=ALL)
def test_each_role_may_do_what_the_table_says(at_desk: AtDesk, triggers: Sequence[Trigger]) -> None:
    """REQ-CMD-002."""
    found = on(at_desk, lambda thread: _table(thread, triggers))
    assert found == {trigger.__name__: {role: role in WRITERS for role in ROLES} for trigger in triggers}


def test_each_role_may_take_the_label_off(at_desk: AtDesk) -> None:
    found = on(at_desk, lambda thread: _table(thread, [unlabel]))
    assert found == {"unlabel": dict.fromkeys(ROLES, True)}


@pytest.mark.parametrize("triggers", GROUPS, ids=ALL)
def test_where_github_does_not_say_who_it_is_nothing_starts(at_desk: AtDesk, triggers: Sequence[Trigger]) -> None:
    async def work(thread: CommandScenario) -> None:
        for trigger in triggers:
            who = trigger.__name__.replace("_", "-")
            thread.world.create_user(who)
            thread.world.set_permission(NAME, who, "admin")
            thread.world.faults.add("GET", f"/repos/{NAME}/collaborators/{who}/permission", status=403, times=99)
            with contextlib.suppress(UserError):  # the delivery then says GitHub's answer
                assert await trigger(thread, who) is False, trigger
            assert thread.at.jobs == [] or trigger is press_cancel, trigger
            thread.at.jobs.clear()

    on(at_desk, work)


OF_AUTHORS = {
    "/mendbot fix": True,
    "/mendbot retest": True,
    "/mendbot cancel": True,
    "/mendbot fix\n/mendbot cancel": True,
    "/mendbot check": False,
    "/mendbot status": False,
    "/mendbot ok-to-test": False,
    "/mendbot apply\n\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```": False,
    "/mendbot fix\n/mendbot pause": False,
    "/mendbot fxi": False,
}


@pytest.mark.parametrize("obeyed", [True, False])
def test_the_author_of_a_branch_here_may_ask_for_three_things(at_desk: AtDesk, obeyed: bool) -> None:
    async def work(thread: CommandScenario) -> dict[str, bool]:
        thread.world.create_user(WHO)
        thread.world.set_permission(NAME, WHO, "write")
        thread.judge()
        number, _ = thread.pull(by=WHO)
        await thread.all()
        thread.world.set_permission(NAME, WHO, "read")
        asked = [text for text, may in OF_AUTHORS.items() if may is obeyed]
        return {text: await _obeyed(thread, thread.world.comment(NAME, number, text, WHO), number) for text in asked}

    found = on(at_desk, work)
    assert set(found.values()) == {obeyed}, found


def test_the_author_of_a_fork_or_of_another_pull_request_may_not(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.world.create_user(WHO)
        fork, _ = thread.fork(WHO)
        other, _ = thread.pull()
        await thread.all()
        for number in (fork, other):
            comment = thread.world.comment(NAME, number, "/mendbot retest", WHO)
            assert await _obeyed(thread, comment, number) is False

    on(at_desk, work)


def test_bots_are_not_obeyed_whatever_they_may(at_desk: AtDesk) -> None:
    """REQ-CMD-001."""

    async def work(thread: CommandScenario) -> None:
        thread.world.create_user("robot[bot]")
        thread.world.set_permission(NAME, "robot[bot]", "admin")
        number = thread.at.issue(label="")
        for who in ("robot[bot]", BOT):
            assert await _obeyed(thread, thread.world.comment(NAME, number, FIX, who), number) is False

    on(at_desk, work)
