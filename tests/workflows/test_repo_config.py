"""The policy is what the default branch says, and a broken file changes nothing until it is fixed (spec K)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.config import Policy, parse_policy_file
from bot.errors import Transient, UserError
from bot.reports.locale.reasons import english
from bot.workflows.repo_config import get_policy, last_good_policy, read_policy
from tests.workflows.conftest import NAME, Harness

AtDesk = Callable[..., Any]
PATH = ".github/mendbot.yml"


def put(at: Harness, text: str) -> None:
    at.github.world.push_commit(NAME, "main", {PATH: text}, "ada")


def test_without_a_file_the_defaults_hold(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[Policy, str]:
        at.github.world.push_commit(NAME, "main", {PATH: None}, "ada")
        return await get_policy(at.context, at.repo)

    assert at_desk(work) == (Policy(), "main")


def test_a_file_says_what_holds_and_where_runs_start(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[Policy, str]:
        put(at, "trigger_label: mend\nbase_branch: develop\n")
        return await get_policy(at.context, at.repo)

    policy, base = at_desk(work)
    assert (policy.trigger_label, base) == ("mend", "develop")


@pytest.mark.parametrize("broken", ["trigger_label: [\n", "trigger_lable: x\n", "max_group_size: none\n", "- a list\n"])
def test_a_broken_file_leaves_the_last_good_one_in_force_until_it_is_mended(at_desk: AtDesk, broken: str) -> None:
    """K-1."""

    async def work(at: Harness) -> list[str]:
        seen = []
        for text in ("trigger_label: mend\n", broken, "trigger_label: heal\n"):
            put(at, text)
            seen.append((await get_policy(at.context, at.repo))[0].trigger_label)
        return seen

    assert at_desk(work) == ["mend", "mend", "heal"]


def test_a_file_that_was_never_good_means_the_defaults(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> Policy:
        put(at, "checks: 7\n")
        return (await get_policy(at.context, at.repo))[0]

    assert at_desk(work) == Policy()


def test_a_burst_of_questions_costs_two_requests_and_the_next_one_asks_anew(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, str]:
        before = at.requests("GET", "/repos/")
        await asyncio.gather(*(get_policy(at.context, at.repo) for _ in range(20)))
        asked = at.requests("GET", "/repos/") - before
        put(at, "trigger_label: later\n")
        return asked, (await get_policy(at.context, at.repo))[0].trigger_label

    assert at_desk(work) == (2, "later")


def test_a_fault_is_everybodys_and_not_kept(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], Policy]:
        at.github.world.faults.add("GET", f"/repos/{NAME}", status=429, headers={"retry-after": "0"})
        results = await asyncio.gather(*(get_policy(at.context, at.repo) for _ in range(3)), return_exceptions=True)
        return [type(result).__name__ for result in results], (await get_policy(at.context, at.repo))[0]

    raised, policy = at_desk(work)
    assert raised == [Transient.__name__] * 3
    assert policy.checks.test.command == "python3 check.py"


@pytest.mark.parametrize("status", [500, 502, 503, 403, 401])
def test_a_file_that_github_will_not_show_just_now_is_not_taken_for_none(at_desk: AtDesk, status: int) -> None:
    """K-1: without an answer there are no defaults, and what is kept stays."""

    async def work(at: Harness) -> tuple[str, type, str]:
        put(at, "trigger_label: mend\n")
        before = (await get_policy(at.context, at.repo))[0].trigger_label
        at.github.world.faults.add("GET", f"/repos/{NAME}/contents/{PATH}", status=status, times=20)
        (raised,) = await asyncio.gather(get_policy(at.context, at.repo), return_exceptions=True)
        kept = await last_good_policy(at.context, at.repo)
        return before, type(raised), kept.trigger_label if kept else ""

    before, raised, kept = at_desk(work)
    assert (before, kept) == ("mend", "mend")
    assert issubclass(raised, Transient if status >= 500 else UserError)


def test_bytes_that_are_no_text_are_told_as_the_command_tells_them(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> object:
        sha = at.github.world.push_commit(NAME, "main", {PATH: b"a: \xff\n"}, "ada")
        return await read_policy(at.context.github.repository(at.repo), sha)

    (problem,) = at_desk(work)
    assert problem.reason == parse_policy_file(b"a: \xff\n")[0].reason  # type: ignore[index]


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            {PATH: None, f"{PATH}/checks.yml": "trigger_label: heal\n"},
            "is a directory: put the text in a file of that name",
        ),
        ({PATH: "#" * 1_048_577}, "is larger than 1 MB: shorten it"),
    ],
    ids=["directory", "large"],
)
def test_what_is_no_file_that_github_shows_is_a_broken_file_and_not_none(
    at_desk: AtDesk, files: dict[str, str | None], told: str
) -> None:
    async def work(at: Harness) -> tuple[object, str]:
        put(at, "trigger_label: mend\n")
        await get_policy(at.context, at.repo)
        sha = at.github.world.push_commit(NAME, "main", files, "ada")
        found = await read_policy(at.context.github.repository(at.repo), sha)
        return found, (await get_policy(at.context, at.repo))[0].trigger_label

    found, label = at_desk(work)
    assert [english(problem.reason) for problem in found] == [told]
    assert label == "mend"


def test_another_default_branch_brings_its_own_file(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, str]:
        put(at, "trigger_label: mend\n")
        await get_policy(at.context, at.repo)
        world = at.github.world
        world.push_commit(NAME, "trunk", {PATH: "trigger_label: heal\n"}, "ada")
        world._state.repo(NAME).default_branch = "trunk"
        policy, base = await get_policy(at.context, at.repo)
        return policy.trigger_label, base

    assert at_desk(work) == ("heal", "trunk")
