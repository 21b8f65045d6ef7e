"""Two groups whose changes would not merge, though neither issue names the file: whoever comes second says so, in the
pull request and in the issue's comment, and has looked before its branch appeared. REQ-WF-007."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.errors import Transient
from bot.github.client import DEFAULT_AUTHOR
from bot.model import Conflict, Issue, Phase
from bot.rules.reasons import quoted
from bot.rules.runs.state import RunState
from bot.workflows.kernel import step_run
from bot.workflows.pushes.merge_conflicts import note_conflicts
from bot.workflows.reporting.publish_run import publish
from bot.workflows.runs.begin import open_tree
from bot.workflows.runs.loop import FIX_RUN
from tests.workflows.conftest import NAME, Harness, ScriptedAgent
from tests.workflows.whole_run import writes

AtDesk = Callable[..., Any]
CHECK = 'import sys\nsys.exit("42" not in open("answer.txt").read())\n'


def about(at: Harness, *titles: str) -> list[int]:
    """Issues that name no file."""
    at.github.world.push_commit(NAME, "main", {"check.py": CHECK}, "ada")
    return [at.issue(title, "It should be better.") for title in titles]


async def begun(at: Harness, *numbers: int) -> None:
    """A run of each, all on one base; none waits for another, as no issue names a file."""
    for number in numbers:
        issue = Issue(number=number, title=f"Issue {number}", body="It should be better.")
        await at.run(f"run-{number}", number, issues=(issue,))
        await step_run(at.context, FIX_RUN, f"run-{number}")
        assert (await at.state(f"run-{number}")).branch


async def fixed(at: Harness, number: int, text: str, name: str = "answer.txt") -> None:
    """The issue's run writes that and goes on to its end."""
    at.hands = [ScriptedAgent(writes(text, name))]
    while not (await step_run(at.context, FIX_RUN, f"run-{number}")).done:
        pass


async def reviewed(at: Harness, number: int, text: str) -> RunState:
    """The issue's run writes that and goes on to where only the packaging is left; its state."""
    at.hands = [ScriptedAgent(writes(text))]
    while (state := await at.state(f"run-{number}")).phases.get(Phase.REVIEW) != "completed":
        await step_run(at.context, FIX_RUN, f"run-{number}")
    return state


def body(at: Harness, number: int) -> str:
    """The body of the pull request that closes the issue."""
    return next(pull.body for pull in at.github.world.pulls(NAME) if number in pull.closes)


async def comment(at: Harness, number: int) -> str:
    await publish(at.context, await at.row(f"run-{number}"))
    return at.github.world.comments(NAME, number)[0].body


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "Would conflict with the change for #{0} (pull request #{1}) in `answer.txt`."),
        ("ko", "#{0}(PR #{1})의 변경과 `answer.txt`에서 충돌합니다."),
    ],
)
def test_the_second_group_names_the_first_its_pull_request_and_the_files(
    at_desk: AtDesk, language: str, words: str
) -> None:
    """REQ-WF-007."""

    async def work(at: Harness) -> tuple[list[str], list[str], int, int]:
        one, two = about(at, "The total is wrong", "Rounding")
        await begun(at, one, two)
        await fixed(at, one, "42\n")
        await fixed(at, two, "42, rounded\n")
        pull = at.github.world.pulls(NAME)[0].number
        return [body(at, one), await comment(at, one)], [body(at, two), await comment(at, two)], one, pull

    first, second, one, pull = at_desk(work, language=language)
    assert [words.format(one, pull) in said for said in second] == [True, True]
    assert ["⚠️" in said for said in first] == [False, False]


def test_it_is_asked_and_recorded_before_the_branch_is_on_github(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], list[str]]:
        one, two = about(at, "The total is wrong", "Rounding")
        await begun(at, one, two)
        await fixed(at, one, "42\n")
        before = len(at.github.world.requests)
        await fixed(at, two, "42, rounded\n")
        wanted = {f"/repos/{NAME}/pulls/": "asked", f"/{NAME}.git/git-receive-pack": "pushed"}
        asked = [
            what
            for request in at.github.world.requests[before:]
            for path, what in wanted.items()
            if request.path.startswith(path)
        ]
        types = [event.type for event in await at.runs.events(f"run-{two}")]
        return asked, [one for one in types if one in ("conflicts_seen", "commit_pushed")]

    asked, recorded = at_desk(work)
    assert (asked[0], asked.count("pushed")) == ("asked", 1)
    assert recorded == ["conflicts_seen", "commit_pushed"]


@pytest.mark.parametrize("how", ["merged", "closed"])
def test_a_pull_request_that_is_merged_or_closed_is_not_counted(at_desk: AtDesk, how: str) -> None:
    async def work(at: Harness) -> str:
        one, two = about(at, "The total is wrong", "Rounding")
        await begun(at, one, two)
        await fixed(at, one, "42\n")
        number = at.github.world.pulls(NAME)[0].number
        if how == "merged":
            at.github.world.merge_pull(NAME, number, "ada")
        else:
            at.github.world.close_issue(NAME, number, "ada")
        await fixed(at, two, "42, rounded\n")
        return body(at, two) + await comment(at, two)

    said = at_desk(work)
    assert "Closes" in said and "⚠️" not in said


def test_where_git_would_merge_them_nothing_is_said_and_github_is_not_asked(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, int]:
        many = "".join(f"line {number}\n" for number in range(40))
        at.github.world.push_commit(NAME, "main", {"many.txt": many, "answer.txt": "42\n"}, "ada")
        one, two = about(at, "The first line", "The last line")
        check = 'import sys\ntext = open("many.txt").read()\n'
        check += 'sys.exit("zero" not in text and "last" not in text)\n'
        at.github.world.push_commit(NAME, "main", {"check.py": check}, "ada")
        await begun(at, one, two)
        await fixed(at, one, many.replace("line 0\n", "line zero\n"), "many.txt")
        before = len(at.github.world.requests)
        await fixed(at, two, many.replace("line 39\n", "line last\n"), "many.txt")
        first = at.github.world.pulls(NAME)[0].number
        looked = [one for one in at.github.world.requests[before:] if one.path == f"/repos/{NAME}/pulls/{first}"]
        return body(at, two) + await comment(at, two), len(looked)

    said, looked = at_desk(work)
    assert ("many.txt" in said, "⚠️" in said, looked) == (True, False, 0)


def test_of_two_that_come_to_it_at_once_one_sees_the_other_though_nothing_is_pushed(at_desk: AtDesk) -> None:
    """Neither has ended, and the one that was first has no pull request yet."""

    async def work(at: Harness) -> list[tuple[Conflict, ...]]:
        numbers = about(at, "The total is wrong", "Rounding")
        await begun(at, *numbers)
        states = [await reviewed(at, number, f"42 for {number}\n") for number in numbers]
        rows = [await at.row(f"run-{number}") for number in numbers]
        commits = [
            await (await open_tree(at.context, row, state)).commit(state.snapshot or "", "Fix", DEFAULT_AUTHOR)
            for row, state in zip(rows, states, strict=True)
        ]
        noted = (note_conflicts(at.context, row, commit) for row, commit in zip(rows, commits, strict=True))
        return sorted(await asyncio.gather(*noted))

    assert at_desk(work) == [(), (Conflict(issues=(1,), pull=None, paths=("answer.txt",)),)]


def test_one_that_was_asked_to_stop_before_its_pull_request_is_not_counted(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> str:
        one, two = about(at, "The total is wrong", "Rounding")
        await begun(at, one, two)
        await reviewed(at, one, "42\n")
        at.github.world.faults.add("*", f"/{NAME}\\.git/.*", status=503, times=9)
        with pytest.raises(Transient):
            await step_run(at.context, FIX_RUN, f"run-{one}")  # looked, and could not push
        at.github.world.faults.clear()
        await at.runs.request_cancel(f"run-{one}", quoted("unlabelled"))
        await fixed(at, two, "42, rounded\n")
        return body(at, two)

    assert "⚠️" not in at_desk(work)


def test_done_again_after_a_fault_it_says_what_was_recorded_without_looking_again(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, list[str], int]:
        one, two = about(at, "The total is wrong", "Rounding")
        await begun(at, one, two)
        await fixed(at, one, "42\n")
        first = at.github.world.pulls(NAME)[0].number
        await reviewed(at, two, "42, rounded\n")
        at.github.world.faults.add("POST", f"/repos/{NAME}/pulls", status=503, times=9)
        with pytest.raises(Transient):
            await step_run(at.context, FIX_RUN, f"run-{two}")
        at.github.world.faults.clear()
        await fixed(at, two, "42, rounded\n")
        looks = [one for one in at.github.world.requests if one.path == f"/repos/{NAME}/pulls/{first}"]
        return body(at, two), [event.type for event in await at.runs.events(f"run-{two}")], len(looks)

    said, types, looks = at_desk(work)
    assert (said.count("Would conflict"), types.count("conflicts_seen"), looks) == (1, 1, 1)


def test_where_github_does_not_tell_of_the_other_the_run_goes_on_without_a_word(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> str:
        one, two = about(at, "The total is wrong", "Rounding")
        await begun(at, one, two)
        await fixed(at, one, "42\n")
        first = at.github.world.pulls(NAME)[0].number
        at.github.world.faults.add("GET", f"/repos/{NAME}/pulls/{first}", status=404, times=9)
        await fixed(at, two, "42, rounded\n")
        return body(at, two)

    assert "⚠️" not in at_desk(work)
