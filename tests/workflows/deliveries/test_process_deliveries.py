"""A stored delivery is decided about until it is, however long GitHub is away, and never twice to another effect."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from bot.logs import captured_logs, set_up_logs
from bot.model import Status
from bot.reports.locale.reasons import english
from bot.store.database.tables import run_issues
from bot.store.inbox.deliveries import DeliveryRow
from tests.workflows.conftest import NAME, Harness
from tests.workflows.deliveries.stored_deliveries import deliver, event

AtDesk = Callable[..., Any]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.workflows.deliveries.process_deliveries.backoff_s", lambda faults: 0.1)


def do(at_desk: AtDesk, work: Callable[[Harness], Coroutine[Any, Any, Any]]) -> Any:
    return at_desk(work, quiet_seconds=600.0)


def test_a_label_makes_a_candidate_and_says_why(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[DeliveryRow, tuple[int, ...]]:
        number = at.issue()
        (row,) = await deliver(at, event(at, "labeled", number))
        return row, await at.waiting()

    row, waiting = do(at_desk, work)
    assert (row.status, waiting) == ("done", (1,))
    assert "`ada` added the label `auto-fix` to #1" in row.because


@pytest.mark.parametrize(("role", "waiting"), [("write", (1,)), ("triage", ()), ("none", ())])
def test_only_who_may_push_starts_anything(at_desk: AtDesk, role: str, waiting: tuple[int, ...]) -> None:
    async def work(at: Harness) -> tuple[str, tuple[int, ...]]:
        number = at.issue()
        at.github.world.set_permission(NAME, "ada", role)  # type: ignore[arg-type]
        (row,) = await deliver(at, event(at, "labeled", number))
        return row.status, await at.waiting()

    assert do(at_desk, work) == ("done" if waiting else "ignored", waiting)


def test_github_being_away_loses_no_delivery_and_delays_no_other(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], tuple[int, ...]]:
        number = at.issue()
        limited = {"status": 429, "headers": {"retry-after": "0"}}
        at.github.world.faults.add("GET", f"/repos/{NAME}/collaborators/.*", times=9, **limited)
        rows = await deliver(at, event(at, "labeled", number), ("ping", "{}"))
        return [row.status for row in rows], await at.waiting()

    assert do(at_desk, work) == (["done", "ignored"], (1,))


def test_what_cannot_be_read_fails_and_a_redelivery_may_run(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[tuple[str, str]]:
        rows = await deliver(at, ("issues", '{"action": "closed"}'), ("issues", "["), ("star", '{"action": "created"}'))
        return [(row.status, row.because.split(":")[0]) for row in rows]

    found = do(at_desk, work)
    assert found[:2] == [("failed", "the payload cannot be read")] * 2
    assert found[2][0] == "ignored"


def test_credentials_that_github_refuses_fail_the_delivery_so_that_it_can_be_sent_again(
    at_desk: AtDesk,
) -> None:
    async def work(at: Harness) -> DeliveryRow:
        number = at.issue()
        at.github.world.faults.add("*", "/app", status=401, times=99)
        return (await deliver(at, event(at, "labeled", number)))[0]

    row = do(at_desk, work)
    assert row.status == "failed"
    assert "APP_ID" in row.because


def test_a_404_of_githubs_is_an_answer(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> DeliveryRow:
        number = at.issue()
        at.github.world.faults.add("GET", f"/repos/{NAME}", status=404, times=99)
        return (await deliver(at, event(at, "labeled", number)))[0]

    row = do(at_desk, work)
    assert row.status == "done"
    assert "GitHub's answer" in row.because


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """The new lines of the log, as `serve` writes them."""
    with captured_logs():  # puts back what was set up before
        set_up_logs("info", "json")
        yield lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_an_unexpected_error_fails_its_delivery_with_the_traceback_in_the_log_and_holds_up_no_other(
    at_desk: AtDesk, logged: Callable[[], list[dict[str, Any]]]
) -> None:
    async def work(at: Harness) -> tuple[list[tuple[str, str]], tuple[int, ...]]:
        damaged, fine = at.issue(), at.issue()
        await at.run("run-1", damaged)
        unreadable = sa.update(run_issues).values(since="no time")
        await at.database.write(lambda connection: connection.execute(unreadable) and None)
        rows = await deliver(at, event(at, "closed", damaged), event(at, "labeled", fine))
        return [(row.status, row.because) for row in rows], await at.waiting()

    (failed, done), waiting = do(at_desk, work)
    assert failed == ("failed", "a fault of Mendbot (ValueError); the log has the rest")
    assert (done[0], waiting) == ("done", (2,))
    (line,) = [line for line in logged() if line["level"] == "error"]
    assert (line["event"], line["delivery"], line["kind"]) == ("delivery_bug", "guid-0", "issues")
    assert "Traceback" in line["exception"] and "Invalid isoformat string: 'no time'" in line["exception"]


def test_labels_put_off_and_on_again_at_once_end_as_they_were_put(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, ...]:
        number = at.issue()
        sent = [
            event(at, action, number, when=f"2026-11-21T12:00:0{second}Z")
            for second, action in enumerate(("labeled", "unlabeled", "labeled", "unlabeled", "labeled"))
        ]
        await deliver(at, *sent)
        return await at.waiting()

    assert do(at_desk, work) == (1,)


def test_a_label_put_again_while_the_old_run_is_being_stopped_is_not_lost(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], tuple[int, ...], list[str]]:
        number = at.issue()
        await at.run("run-old", number)
        at.github.world.faults.add("GET", "/app", status=None, delay_s=0.5)  # of the first that asks
        sent = [
            event(at, how, number, when=f"2026-11-21T12:00:0{n}Z") for n, how in enumerate(("unlabeled", "labeled"))
        ]
        rows = await deliver(at, *sent)
        return [row.status for row in rows], await at.waiting(), [job.id for job in at.jobs]

    assert do(at_desk, work) == (["done", "done"], (1,), ["settle:run-old"])


def test_closing_one_issue_of_a_group_stops_its_run_and_lets_the_others_wait_for_another(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str | None, tuple[int, ...]]:
        numbers = at.issue(), at.issue(), at.issue()
        await at.run("run-1", *numbers)
        at.github.world.close_issue(NAME, numbers[1], "ada")
        await deliver(at, event(at, "closed", numbers[1]))
        return english((await at.row("run-1")).cancel_because), await at.waiting()

    because, waiting = do(at_desk, work)
    assert waiting == (1, 3)
    assert because == "#2 was closed by `ada`"


def test_closing_an_issue_that_nobody_works_on_costs_no_request(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, int]:
        number = at.issue(label="")
        (row,) = await deliver(at, event(at, "closed", number))
        return row.status, at.requests("", "/repos/")

    assert do(at_desk, work) == ("ignored", 0)


def test_an_uninstalled_app_stops_what_runs_and_waits_and_says_nothing(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[tuple[int, ...], str | None, tuple[str, ...]]:
        one, other = at.issue(), at.issue()
        await at.run("run-1", one)
        await at.wait(other)
        at.github.world.uninstall_app(NAME)
        sent = {"action": "deleted", "installation": {"id": at.repo.installation_id}, "sender": {"login": "ada"}}
        await deliver(at, ("installation", json.dumps(sent)))
        await at.runs.append("run-1", [])
        return await at.waiting(), english((await at.row("run-1")).cancel_because), await at.runs.unreported()

    assert do(at_desk, work) == ((), "the installation was deleted", ())


def test_a_delivery_done_twice_has_one_effect(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[tuple[int, ...], int, Status]:
        numbers = at.issue(), at.issue()
        await at.run("run-1", *numbers)
        for _ in range(2):
            await deliver(at, event(at, "unlabeled", numbers[0]))
        return await at.waiting(), len(at.jobs), (await at.row("run-1")).status

    assert do(at_desk, work) == ((2,), 1, Status.QUEUED)
