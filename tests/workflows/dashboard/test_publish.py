"""The dashboard issue follows the state, is written only where something changed, and obeys its configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.model import Status
from bot.workflows.context import Loop
from bot.workflows.dashboard.publish import Dashboards
from bot.workflows.repo_config import get_policy
from demo.standin.server import StandIn
from demo.standin.views import IssueView
from tests.reports.golden import compare
from tests.workflows.conftest import NAME, Harness
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot
from tests.workflows.reporting.reported_runs import finished, started


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def configure(at: Harness, text: str = "dashboard: true\n") -> None:
    at.github.world.push_files(NAME, "main", {".github/mendbot.yml": text}, "Configure", "ada")


def dashboard(at: Harness) -> IssueView:
    (found,) = [issue for issue in at.github.world.issues(NAME) if issue.title.startswith("Mendbot dashboard")]
    return found


async def update(at: Harness) -> Dashboards:
    await get_policy(at.context, at.repo)
    dashboards = Dashboards(at.context)
    await dashboards.update()
    return dashboards


def test_it_is_opened_pinned_and_shows_the_state(at_desk: Any) -> None:
    """K-2."""

    async def work(at: Harness) -> str:
        failed, runs, waits, paused = (at.issue() for _ in range(4))
        configure(at)
        await at.run("run-1", failed)
        await at.runs.append("run-1", [started(), finished(Status.FAILED)])
        await at.run("run-2", runs)
        await at.wait(waits, quiet_ms=600_000)
        stores = at.context.stores
        await stores.threads.pause(at.repo, paused, "ada", 1)
        for outcome in ({"failed": ["test_a"], "passed": []}, {"failed": [], "passed": ["test_a"]}):
            await stores.test_runs.add(NAME, "test", ("f" * 40, "base"), **outcome)
        await stores.test_runs.add(NAME, "test", ("e" * 40, "base"), failed=["test_b"], passed=[])
        await update(at)
        assert at.github.world.pinned(NAME) == (dashboard(at).number,)
        return dashboard(at).body or ""

    compare("dashboard-full.en.md", at_desk(work) + "\n")


def test_nothing_is_written_where_nothing_changed(at_desk: Any) -> None:
    """K-2."""

    async def work(at: Harness) -> None:
        configure(at)
        dashboards = await update(at)
        requests = at.requests()
        await dashboards.update()
        assert at.requests() == requests
        await at.context.stores.threads.pause(at.repo, 1, "ada", 1)
        await dashboards.update()
        assert "paused by ada" in (dashboard(at).body or "")
        assert at.requests("PATCH", "/issues/") == 1

    at_desk(work)


def test_it_is_closed_when_it_is_turned_off_and_opened_again_as_the_same_issue(at_desk: Any) -> None:
    """K-2."""

    async def work(at: Harness) -> None:
        states = []
        for text in ("dashboard: true\n", "", "dashboard: true\n"):
            configure(at, text)
            await update(at)
            states.append(dashboard(at).state)
        assert states == ["open", "closed", "open"]
        at.github.world.close_issue(NAME, dashboard(at).number, "ada")
        await at.context.stores.threads.pause(at.repo, 1, "ada", 1)
        await update(at)
        assert dashboard(at).state == "closed"  # as a person wants it

    at_desk(work)


def test_without_the_key_there_is_none_and_a_full_pin_board_is_no_fault(at_desk: Any) -> None:
    async def work(at: Harness) -> None:
        await update(at)
        assert at.github.world.issues(NAME) == ()
        fault = at.github.world.faults.add("POST", "/graphql", status=200, body={"errors": [{"message": "Maximum"}]})
        configure(at)
        await update(at)
        assert (fault.hits, at.github.world.pinned(NAME), dashboard(at).state) == (1, (), "open")

    at_desk(work)


def test_a_pin_that_github_does_not_answer_is_no_fault(at_desk: Any) -> None:
    async def work(at: Harness) -> None:
        fault = at.github.world.faults.add("POST", "/graphql", status=502, times=9)
        configure(at)
        await update(at)
        assert fault.hits
        assert [name for name, _ in await at.context.stores.reports.at_target("issue:dashboard")] == [NAME]

    at_desk(work)


def test_an_issue_opened_before_a_crash_is_found(at_desk: Any) -> None:
    async def work(at: Harness) -> None:
        configure(at)
        await update(at)
        number = dashboard(at).number
        published = await at.context.stores.reports.at_target("issue:dashboard")
        assert [(name, report.github_id) for name, report in published] == [(NAME, number)]
        at.github.world.faults.add("POST", f"/repos/{NAME}/issues", status=502, after_effect=True)
        await at.database.write(lambda connection: connection.exec_driver_sql("DELETE FROM reports"))
        await update(at)
        assert dashboard(at).number == number

    at_desk(work)


def test_a_ticked_box_runs_once_is_emptied_and_answers_in_its_thread(do: WithBot) -> None:
    """K-2."""

    async def work(bot: RunningBot) -> None:
        bot.furnish(dashboard=True)
        number = bot.world.create_issue(NAME, "It is wrong", "in `wrong.txt`", author="ada")
        await bot.at.context.stores.threads.pause(bot.at.repo, number, "ada", 1)
        await update(bot.at)
        shown = dashboard(bot.at)
        body = shown.body or ""
        bot.world.create_user("eve")
        bot.world.edit_issue(NAME, shown.number, "eve", body=body.replace("- [ ]", "- [x]"))
        await bot.quiet()
        assert await bot.at.context.stores.threads.paused(bot.at.repo, number) == "ada"
        bot.world.edit_issue(NAME, shown.number, "eve", body=body)
        bot.world.edit_issue(NAME, shown.number, "ada", body=body.replace("- [ ]", "- [x]"))
        sent = bot.world.deliveries[-1]
        await bot.quiet()
        assert await bot.at.context.stores.threads.paused(bot.at.repo, number) is None
        assert len(bot.world.comments(NAME, number)) == 1
        assert bot.at.context.wake[Loop.DASHBOARDS].is_set()
        await Dashboards(bot.at.context).update()
        assert "- [x]" not in (dashboard(bot.at).body or "")
        await bot.at.context.stores.threads.pause(bot.at.repo, number, "ada", 1)
        await bot.accept(sent)  # delivered again
        await bot.quiet()
        assert await bot.at.context.stores.threads.paused(bot.at.repo, number) == "ada"

    do(work)
