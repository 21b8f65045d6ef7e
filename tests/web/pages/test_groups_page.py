"""The page `/groups`: each group of several issues with its reasons, as a picture and as a table (REQ-WF-007)."""

from __future__ import annotations

import asyncio

import pytest

from bot.model import Issue, Repo
from bot.model.reasons import Reason, make_reason
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import now_ms
from bot.store.inbox.candidates import Candidates, QueuedIssue
from bot.store.runs.runs import Runs
from bot.web.pages.groups_page import PER_PAGE
from tests.web.conftest import Door
from tests.web.pages.client import Client

SHOP, API = Repo(owner="Acme", name="Shop", installation_id=1), Repo(owner="acme", name="api", installation_id=1)
HOSTILE = "</text><script>alert(1)</script>"


def spec(repo: Repo, numbers: tuple[int, ...], *reasons: Reason) -> RunSpec:
    issues = tuple(Issue(number=number, title=f"{HOSTILE} {number}") for number in numbers)
    return RunSpec(repo=repo, issues=issues, reasons=reasons, suggested_branch="fix/issue-7-9", agents=("fixers",))


@pytest.fixture(scope="module", autouse=True)
def groups(_open_door: Door) -> None:
    """A group by similarity, one by a file, an issue alone, an issue that waits, and more than a page."""
    words = make_reason("group.words", low=7, high=9, cosine="0.61", words="cart, total")
    shared = make_reason("group.shared.file", count=2, number=11, key="src/api.py")

    async def fill() -> None:
        runs = Runs(_open_door.database)
        for number in range(PER_PAGE):
            await runs.create(f"run-old{number}", spec(API, (100 + 2 * number, 101 + 2 * number)))
        await runs.create("run-pair", spec(SHOP, (7, 9), words))
        await runs.create("run-file", spec(API, (11, 12), shared))
        await runs.create("run-alone", spec(SHOP, (20,), make_reason("group.unlike", number=20)))
        queued = QueuedIssue(repo=SHOP, issue=33, at=now_ms(), quiet_ms=60_000)
        await Candidates(_open_door.database).add(queued)

    asyncio.run(fill())


def test_a_group_is_a_picture_and_a_table_of_its_reasons(operator: Client) -> None:
    """REQ-WF-007, REQ-RUN-009."""
    text = operator.get("/groups?repo=acme/shop").text
    assert text.count("<svg") == 1 and 'aria-label="Issues: 2, edges: 1; the table lists them"' in text
    assert '<path class="edge weak"' in text and '<td class="nowrap">#7 and #9</td>' in text
    assert "are worded alike (0.61: cart, total)" in text and 'href="/runs/run-pair"' in text
    assert '<a href="https://github.com/Acme/Shop/issues/7">#7</a>' in text
    assert "run-alone" not in text and "run-file" not in text
    assert "<script>alert" not in text and "&lt;/text&gt;" in text


def test_a_shared_key_is_drawn_and_named(operator: Client) -> None:
    text = operator.get("/groups?repo=acme/api").text
    assert "2 issues share the file src/api.py" in text and "#11 and what they share" in text
    assert '<rect class="attention"' in text


def test_issues_that_wait_are_named_with_their_time(operator: Client) -> None:
    first = operator.get("/groups").text
    assert "Waiting to be grouped" in first and "issues/33" in first and 'href="/groups?page=2"' in first
    assert first.count("<svg") == PER_PAGE
    second = operator.get("/groups?page=2").text
    assert "Waiting to be grouped" not in second and second.count("<svg") == 2
    assert "issues/33" not in operator.get("/groups?repo=acme/api").text


def test_a_repository_without_groups_says_so(operator: Client) -> None:
    text = operator.get("/groups?repo=no/such").text
    assert "No issues have been grouped yet" in text
    assert '<option value="Acme/Shop">' in text and '<option value="acme/api">' in text
