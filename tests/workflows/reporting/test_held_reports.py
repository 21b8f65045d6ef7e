"""No comment says "working" for ever: what could not be said where the App had no voice is said once it has one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from bot.config import Policy
from bot.model import Status
from bot.rules.pulls.check_spec import PullCheckSpec
from bot.workflows.job_table import RUN_KINDS
from bot.workflows.kernel import publish_loop, settle_run
from bot.workflows.pulls.publish_checks import publish_pull
from bot.workflows.reporting import publisher
from bot.workflows.reporting.publish_run import publish
from bot.workflows.runs.loop import FIX_RUN
from tests.machine import PATIENCE_S
from tests.run_events import pull_check_event
from tests.workflows.conftest import NAME, Harness
from tests.workflows.deliveries.stored_deliveries import deliver, event
from tests.workflows.reporting.reported_runs import comments, finished, labels, started

AtDesk = Callable[..., Any]


async def told(at: Harness) -> None:
    """Until the loops have nothing more to tell."""
    stores = at.context.stores
    loops = [asyncio.create_task(publish_loop(at.context, kind)) for kind in RUN_KINDS]
    try:
        async with asyncio.timeout(PATIENCE_S):
            while await stores.runs.unreported() or await stores.pulls.unreported():  # noqa: ASYNC110  # a database's
                await asyncio.sleep(0.02)
    finally:
        for loop in loops:
            loop.cancel()


def installation(action: str, number: int, *names: str, name: str = "installation") -> tuple[str, str]:
    key = "repositories" if name == "installation" else f"repositories_{action}"
    repositories = [{"full_name": one} for one in names]
    return name, json.dumps({"action": action, "installation": {"id": number}, key: repositories})


async def checks(at: Harness, sha: str) -> None:
    """A run of a pull request's checks, under way and told."""
    pulls = at.context.stores.pulls
    spec = PullCheckSpec(repo=at.repo, number=5, head_sha=sha, base_ref="main", policy=Policy())
    await pulls.create("pull-1", spec)
    await pulls.append("pull-1", [pull_check_event("pull_started", baseSha=sha)])
    row = await pulls.get("pull-1")
    assert row is not None
    await publish_pull(at.context, row)


def test_what_stopped_with_a_suspension_is_told_when_it_is_lifted_and_once(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], list[str], set[str], set[str]]:
        number, sha = at.issue(), at.github.world.branches(NAME)["main"]
        await at.run("run-1", number)
        await publish(at.context, await at.row("run-1"))
        await checks(at, sha)
        at.github.world.suspend_app(NAME)
        await deliver(at, installation("suspend", at.repo.installation_id))
        await settle_run(at.context, FIX_RUN, "run-1")
        ended = pull_check_event("pull_finished", status="cancelled")
        await at.context.stores.pulls.append("pull-1", [ended])
        await told(at)
        before = comments(at, number)
        at.github.world.suspend_app(NAME, suspended=False)
        await deliver(at, installation("unsuspend", at.repo.installation_id + 1))  # somebody else's
        assert await at.runs.unreported() == ()
        await deliver(at, installation("unsuspend", at.repo.installation_id))
        await told(at)
        requests = at.requests()
        await deliver(at, installation("unsuspend", at.repo.installation_id))
        await told(at)
        assert at.requests() == requests
        shown = {check.status for check in at.github.world.check_runs(NAME, sha)}
        return before, comments(at, number), labels(at, number), shown

    before, after, kept, shown = at_desk(work)
    assert ["suspended" in body for body in (*before, *after)] == [False, True]
    assert kept == {"auto-fix"}
    assert shown == {"completed"}


def test_an_app_that_is_installed_anew_speaks_for_its_new_installation(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], int, int]:
        number = at.issue()
        await at.run("run-1", number)
        await publish(at.context, await at.row("run-1"))
        at.github.world.uninstall_app(NAME)
        await deliver(at, installation("deleted", at.repo.installation_id))
        await settle_run(at.context, FIX_RUN, "run-1")
        at.github.world.create_repo("octo/other", {"a": ""})  # its owner installs the App again
        fresh = at.github.world.installation_id(NAME)
        await deliver(at, installation("created", fresh, "octo/other", "Octo/Tiny"))
        await told(at)
        return comments(at, number), fresh, (await at.row("run-1")).spec.on_github.installation_id

    said, fresh, speaks_for = at_desk(work)
    assert len(said) == 1
    assert "the installation was deleted" in said[0]
    assert speaks_for == fresh


def test_what_a_locked_thread_refused_is_told_when_it_is_unlocked_and_the_rest_at_once(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], set[str], list[str], list[str]]:
        number, other = at.issue(), at.issue()
        await at.run("run-1", number, other)
        await publish(at.context, await at.row("run-1"))
        comment = f"/repos/{NAME}/issues/{number}/comments"
        fault = at.github.world.faults.add("POST", comment, status=403, times=1)
        await at.runs.append("run-1", [started(), finished(Status.FAILED)])
        await told(at)
        assert fault.hits == 1
        locked, kept = comments(at, number), labels(at, number)
        assert labels(at, other) == kept
        await deliver(at, event(at, "unlocked", other))
        await told(at)
        return locked, kept, comments(at, number), comments(at, other)

    locked, kept, free, other = at_desk(work)
    assert "❌" not in locked[0]
    assert kept == {"auto-fix", "auto-fix-failed"}
    assert "❌" in free[0]
    assert "❌" in other[0]


def test_a_key_that_github_does_not_take_loses_no_last_word(at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "FIRST_RETRY_S", 0.05)

    async def work(at: Harness) -> list[str]:
        number = at.issue()
        await at.run("run-1", number)
        await at.runs.append("run-1", [started(), finished(Status.FAILED)])
        at.github.world.faults.add("POST", "/app/installations/.*", status=401, times=3)
        await told(at)
        return comments(at, number)

    assert "❌" in at_desk(work)[0]
