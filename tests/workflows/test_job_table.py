"""The table of jobs covers every kind, and what a kind needs of the kernel is there."""

from __future__ import annotations

from pathlib import Path

from bot.app.build import queues
from bot.config import Settings
from bot.model.jobs import JobName
from bot.workflows.job_table import JOBS, RUN_KINDS


def test_every_kind_of_job_has_its_row() -> None:
    assert set(JOBS) == set(JobName)


def test_the_queues_of_the_table_are_those_that_there_are(tmp_path: Path) -> None:
    assert {entry.queue for entry in JOBS.values()} == {queue.name for queue in queues(Settings(home=tmp_path))}


def test_a_kind_that_works_from_facts_has_a_job_that_works_and_one_that_ends() -> None:
    named = [name for kind in RUN_KINDS for name in (kind.name, kind.settle_name)]
    assert len(set(named)) == len(named) and set(named) | {JobName.COMMAND, JobName.ONBOARD, JobName.OPEN_PULLS} == set(
        JobName
    )
    assert len({kind.publisher for kind in RUN_KINDS}) == len(RUN_KINDS)
    for kind in RUN_KINDS:
        work, end = kind.job("x-1", "octo/pocket"), kind.settle_job("x-1", "octo/pocket")
        assert (work.id, end.id) == (f"{kind.name}:x-1", f"{kind.settle_name}:x-1")
        assert work.args == end.args == {"run_id": "x-1"}
