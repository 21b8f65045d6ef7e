"""The policy is what the default branch says, and a broken file changes nothing until it is mended (spec K)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.config import Policy
from bot.errors import Transient
from bot.workflows.policies import policy_of
from tests.workflows.conftest import NAME, Desk

AtDesk = Callable[..., Any]
PATH = ".github/mendbot.yml"


def put(at: Desk, text: str) -> None:
    at.github.world.push_commit(NAME, "main", {PATH: text}, "ada")


def test_without_a_file_the_defaults_hold(at_desk: AtDesk) -> None:
    async def work(at: Desk) -> tuple[Policy, str]:
        at.github.world.push_commit(NAME, "main", {PATH: None}, "ada")
        return await policy_of(at.context, at.repo)

    assert at_desk(work) == (Policy(), "main")


def test_a_file_says_what_holds_and_where_runs_start(at_desk: AtDesk) -> None:
    async def work(at: Desk) -> tuple[Policy, str]:
        put(at, "trigger_label: mend\nbase_branch: develop\n")
        return await policy_of(at.context, at.repo)

    policy, base = at_desk(work)
    assert (policy.trigger_label, base) == ("mend", "develop")


@pytest.mark.parametrize("broken", ["trigger_label: [\n", "trigger_lable: x\n", "max_group_size: none\n", "- a list\n"])
def test_a_broken_file_leaves_the_last_good_one_in_force_until_it_is_mended(at_desk: AtDesk, broken: str) -> None:
    """K-1."""

    async def work(at: Desk) -> list[str]:
        seen = []
        for text in ("trigger_label: mend\n", broken, "trigger_label: heal\n"):
            put(at, text)
            seen.append((await policy_of(at.context, at.repo))[0].trigger_label)
        return seen

    assert at_desk(work) == ["mend", "mend", "heal"]


def test_a_file_that_was_never_good_means_the_defaults(at_desk: AtDesk) -> None:
    async def work(at: Desk) -> Policy:
        put(at, "checks: 7\n")
        return (await policy_of(at.context, at.repo))[0]

    assert at_desk(work) == Policy()


def test_a_burst_of_questions_costs_two_requests_and_the_next_one_asks_anew(at_desk: AtDesk) -> None:
    async def work(at: Desk) -> tuple[int, str]:
        before = at.requests("GET", "/repos/")
        await asyncio.gather(*(policy_of(at.context, at.repo) for _ in range(20)))
        asked = at.requests("GET", "/repos/") - before
        put(at, "trigger_label: later\n")
        return asked, (await policy_of(at.context, at.repo))[0].trigger_label

    assert at_desk(work) == (2, "later")


def test_a_fault_is_everybodys_and_not_kept(at_desk: AtDesk) -> None:
    async def work(at: Desk) -> tuple[list[str], Policy]:
        at.github.world.faults.add("GET", f"/repos/{NAME}", status=429, headers={"retry-after": "0"})
        results = await asyncio.gather(*(policy_of(at.context, at.repo) for _ in range(3)), return_exceptions=True)
        return [type(result).__name__ for result in results], (await policy_of(at.context, at.repo))[0]

    raised, policy = at_desk(work)
    assert raised == [Transient.__name__] * 3
    assert policy.checks.test.command == "python3 check.py"
