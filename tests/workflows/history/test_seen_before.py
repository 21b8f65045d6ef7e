"""How often a run's errors were seen in its repository, counted once a run, and told on the next one's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.rules.failures.errors import fingerprints
from bot.workflows.history.seen_before import with_seen_before
from bot.workflows.reporting.run_view import view_of
from tests.workflows.conftest import Harness
from tests.workflows.whole_run import ERROR, Doer, go, judged, writes

AtDesk = Callable[..., Any]
PRINT = fingerprints(ERROR)[0]


async def _seen(at: Harness, run_id: str) -> tuple[tuple[str, int], ...]:
    row, state = await at.row(run_id), await at.state(run_id)
    view = await with_seen_before(at.context, row, state, view_of(row, state))
    assert all(since[:4].isdigit() for _, _, since in view.seen)
    return tuple((error, times) for error, times, _ in view.seen)


def test_a_run_counts_an_error_once_however_many_attempts_showed_it(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        judged(at)
        for count in (1, 2):
            at.hands = [Doer([writes("43\n"), writes("44\n")])]
            await go(at, f"run-{count}", max_attempts=2)
            assert await _seen(at, f"run-{count}") == ((PRINT, count),)

    at_desk(work)


def test_a_check_that_the_base_never_came_to_is_counted_when_an_attempt_does(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        judged(at, lint__py='import pathlib, sys\nsys.exit(not pathlib.Path("tidy").exists())\n')
        at.hands = [Doer([writes("x\n", "tidy")])]
        checks = {"lint": {"command": "python3 lint.py"}, "test": {"command": "python3 judge.py"}}
        await go(at, "run-1", policy={"checks": checks}, max_attempts=1)
        assert await _seen(at, "run-1") == ((PRINT, 1),)

    at_desk(work)


def test_a_run_that_passes_has_nothing_to_remember(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        judged(at)
        at.hands = [Doer([writes("42\n")])]
        await go(at, "run-1")
        assert await _seen(at, "run-1") == ()
        seen = await at.context.stores.outcomes.seen("octo/tiny", [PRINT])
        assert seen[PRINT].times == 1, "its base failed, which is what the repository showed"
        rate = await at.context.stores.outcomes.rate("octo/tiny", "test")
        assert (rate.runs, rate.flaky) == (1, 0)

    at_desk(work)


def test_what_a_pull_requests_fix_shows_was_counted_when_it_was_checked(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        judged(at)
        base = at.github.world.branches("octo/tiny")["main"]
        at.hands = [Doer([writes("43\n")])]
        target = {"number": 8, "head_sha": base, "head_ref": "main"}
        await go(at, "run-1", max_attempts=1, pull=target)
        assert await at.context.stores.outcomes.seen("octo/tiny", [PRINT]) == {}

    at_desk(work)
