"""The rows of the trial of guidance, on SQLite: counted once, by repository, and for the present resolution only."""

from __future__ import annotations

from pathlib import Path

from bot.model import KnownError, Resolution
from bot.model.guidance_trial import TriedGuidance
from bot.store.database.database import Database
from bot.store.history.trials import GuidanceTrials
from tests.store.databases import run

KNOWN = (KnownError(id=1, error="boom", resolution=Resolution(), use_count=2),)


async def test_a_run_counts_once_however_many_errors_it_had_and_however_often_it_is_recorded(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        trials = GuidanceTrials(database)
        tried = tuple(TriedGuidance(id=kb_id, use_count=1) for kb_id in (1, 2, 3))
        for passed in (True, False):  # a repeated end changes nothing
            await trials.record("run-1", "octo/x", tried, withheld=False, passed=passed)
        await trials.record("run-2", "octo/y", tried, withheld=True, passed=False)
        found = await trials.figures()
        assert (found.shown, found.shown_passed, found.withheld, found.withheld_passed) == (1, 1, 1, 0)
        assert (found.difference, (await trials.figures("Octo/X")).withheld) == (1.0, 0)

    await run(tmp_path, work)


async def test_a_known_error_is_muted_in_its_repository_until_it_is_resolved_anew(tmp_path: Path) -> None:
    """REQ-RA-313."""

    async def work(database: Database) -> None:
        trials = GuidanceTrials(database)
        tried = (TriedGuidance(id=1, use_count=2),)
        for number in range(40):
            withheld = number < 8
            await trials.record(f"run-{number}", "octo/x", tried, withheld=withheld, passed=withheld)
        assert await trials.muted("octo/x", KNOWN) == {1}
        assert await trials.muted("octo/y", KNOWN) == frozenset()
        assert await trials.muted("octo/x", [KNOWN[0].model_copy(update={"use_count": 3})]) == frozenset()
        assert await trials.muted("octo/x", []) == frozenset()

    await run(tmp_path, work)
