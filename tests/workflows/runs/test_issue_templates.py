"""Issues that came from one template of the repository are grouped by what their authors wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.rules.grouping.template_files import NO_TEMPLATES
from bot.workflows.runs import issue_templates
from bot.workflows.runs.form_groups import gather
from bot.workflows.runs.issue_templates import get_templates
from tests.workflows.conftest import NAME, Harness

AtDesk = Callable[..., Any]

TEMPLATE = """\
---
name: Fault
title: "Fault: "
---
Our shop assistants read docs/tills/behaviour.md and cleaned the till before they report a fault.
Receipt roll changed, drawer emptied, scale calibrated: yes or no
"""
PATH = ".github/ISSUE_TEMPLATE/fault.md"
FAULTS = {
    "Fault: Coupons count twice": "A voucher of ten percent takes twenty percent off.",
    "Fault: Drawer stays locked": "After midnight the cash compartment never opens.",
    "Fault: Scale shows pounds": "Fruit is weighed in the wrong unit since Monday.",
    "Fault: Language resets": "Every logout brings back Finnish menus.",
}


def reported(at: Harness) -> tuple[int, ...]:
    body = TEMPLATE.partition("---\nOur")[2]
    return tuple(at.issue(title, f"Our{body}{text}") for title, text in FAULTS.items())


async def groups(at: Harness) -> list[tuple[int, ...]]:
    numbers = reported(at)
    for number in numbers:
        await at.wait(number)
    await gather(at.context, at.repo, numbers)
    return sorted(tuple(issue.number for issue in row.spec.issues) for row in await at.runs.all())


@pytest.mark.parametrize(("path", "expected"), [(PATH, [(1,), (2,), (3,), (4,)]), ("README.md", [(1, 2, 3, 4)])])
def test_four_issues_from_one_template_about_four_things_are_four_groups(
    at_desk: AtDesk, path: str, expected: list[tuple[int, ...]]
) -> None:
    """REQ-WF-007: the template names a file, so without it they would be one group."""

    async def work(at: Harness) -> list[tuple[int, ...]]:
        at.github.world.push_commit(NAME, "main", {path: TEMPLATE}, "ada")
        return await groups(at)

    assert at_desk(work) == expected


def test_a_mirror_that_has_the_branch_is_read_as_it_is(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[bool, bool, int]:
        world = at.github.world
        world.push_commit(NAME, "main", {PATH: TEMPLATE}, "ada")
        first = await get_templates(at.context, at.repo, "main")
        fetches = sum(request.kind == "git" for request in world.requests)
        world.push_commit(NAME, "main", {PATH: "Something else"}, "ada")
        again = await get_templates(at.context, at.repo, "main")
        return first != NO_TEMPLATES, first == again, sum(r.kind == "git" for r in world.requests) - fetches

    assert at_desk(work) == (True, True, 0)


def test_groups_are_formed_without_templates_where_these_cannot_be_had(
    at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(at: Harness) -> tuple[list[tuple[int, ...]], bool]:
        at.github.world.push_commit(NAME, "main", {PATH: TEMPLATE}, "ada")
        return await groups(at), at.context.mirror(at.repo).exists()

    async def too_slow(*_: object, **__: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(issue_templates, "transfer", too_slow)
    assert at_desk(work) == ([(1, 2, 3, 4)], True)


def test_a_single_issue_costs_no_fetch(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, bool]:
        number = at.issue()
        await at.wait(number)
        await gather(at.context, at.repo, (number,))
        return len(at.jobs), at.context.mirror(at.repo).exists()

    assert at_desk(work) == (1, False)
