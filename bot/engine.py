"""The durable engine: the only module that imports dbos. A job is one function that is called until it returns `done`;
each call is a recorded step, so a crash repeats at most one call.

It follows the rules of DBOS 3.4: a pinned application version, a stable executor id, WAL before launch, workflow ids
made from the intent, JSON instead of pickle, few recovery attempts. A job that waits takes no slot of its queue: its
rest is a record of its own, a turn, which is due when the wait is over."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bot.late_psycopg import import_late
from bot.model.jobs import Job, JobArgs, JobState, JobStep, Queue, StepResult
from bot.store.database.postgres import bounded_arguments
from bot.store.database.private_file import create_private

import_late()
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer  # noqa: E402  # it imports psycopg

APPLICATION_VERSION = "1"
_MAX_RECOVERIES = 30
"""Restarts of the process after which a job is given up, as it may be what kills the process. dbos counts every
restart, also those between which the job makes progress; each turn of a job counts from zero."""

_STEP_LIMIT_S = 8 * 3600.0
"""Far above the sum of the limits of the processes that one call starts; a job past it is given up."""


_ALIVE = ["PENDING", "ENQUEUED", "DELAYED"]
_ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
_DELETE_BATCH = 500
_NEW_JOB = 1
"""The priority of a job that begins. A job that has waited comes first (0): others may wait for what it holds."""

_TURN = "~"
"""Separates a job's id from the number of its turn in the engine's records; the first turn has the job's own id."""


class Engine:
    """Runs jobs of the kinds in `steps`, each on its queue. Start it inside the event loop that is to run them.

    One per process. `steps` maps a kind to its queue's name and its function, which gets the job's arguments and
    how many faults came in a row before this call."""

    def __init__(
        self, url: str, executor_id: str, queues: Sequence[Queue], steps: Mapping[str, tuple[str, JobStep]]
    ) -> None:
        self._queues = queues
        self._kinds = {kind: queue for kind, (queue, _) in steps.items()}
        self._stopping = False
        self._active = 0
        self._idle = asyncio.Event()
        self._idle.set()
        config: DBOSConfig = {
            "name": "mendbot",
            "system_database_url": url,
            "application_version": APPLICATION_VERSION,
            "executor_id": executor_id,
            "serializer": DBOSPortableJSONSerializer(),
            "console_log_level": "ERROR",
            "log_level": "WARNING",
            "enable_otlp": False,
        }
        parsed = sa.make_url(url)
        if parsed.get_backend_name() == "sqlite":
            _prepare_sqlite(Path(parsed.database or ""))
            self._enqueue_slots = asyncio.Semaphore(1)
        else:
            self._enqueue_slots = asyncio.Semaphore(16)
            config["db_engine_kwargs"] = {"connect_args": bounded_arguments()}
        DBOS(config=config)
        for kind, (_, step) in steps.items():
            self._register(kind, step)

    def _register(self, kind: str, step: JobStep) -> None:
        @DBOS.step(name=f"{kind}.step", preemptible=True, timeout_seconds=_STEP_LIMIT_S)
        async def call(args: JobArgs, faults: int) -> dict[str, Any]:
            self._active += 1
            self._idle.clear()
            try:
                return (await step(args, faults)).model_dump()
            finally:
                self._active -= 1
                if not self._active:
                    self._idle.set()

        @DBOS.workflow(name=kind, max_recovery_attempts=_MAX_RECOVERIES)
        async def loop(args: JobArgs, faults: int, partition: str) -> None:
            while True:
                if self._stopping:
                    await asyncio.Event().wait()  # the process stops; this workflow continues after the restart
                result = StepResult.model_validate(await call(args, faults))
                if result.done:
                    return
                faults = faults + 1 if result.fault else 0
                if result.wait_s > 0:
                    await self._enqueue_turn(kind, args, faults, partition, result.wait_s)
                    return

    async def _enqueue_turn(self, kind: str, args: JobArgs, faults: int, partition: str, wait_s: float) -> None:
        """Enqueue the rest of a job as its next turn, so that the job takes no slot of its queue while it waits. The
        turn's id makes it one turn, however often a crash repeats this."""
        await DBOS.enqueue_workflow_with_options_async(
            {
                "workflow_name": kind,
                "queue_name": self._kinds[kind],
                "workflow_id": _next_turn(str(DBOS.workflow_id)),
                "queue_partition_key": partition,
                "delay_seconds": wait_s,
            },
            args,
            faults,
            partition,
        )

    def start(self) -> None:
        """Launch dbos, which recovers the jobs that this executor had begun."""
        DBOS.launch()

    async def listen(self) -> None:
        """Register the queues with the limits that this process was given."""
        for queue in self._queues:
            await DBOS.register_queue_async(
                queue.name,
                worker_concurrency=queue.at_once,
                partition_concurrency=min(queue.per_partition, queue.at_once),
                polling_interval_sec=queue.poll_s,
                on_conflict="always_update",
            )

    async def enqueue(self, job: Job) -> None:
        """Put a job in its queue. A job that is known already, in whatever state, stays as it is."""
        # dbos refuses a step that enqueues a job, as it would be a child of the step's. It knows the step by a context
        # variable, so the job is enqueued from a task that has none
        await asyncio.create_task(self._put(job), context=contextvars.Context())

    async def _put(self, job: Job) -> None:
        async with self._enqueue_slots:
            await DBOS.enqueue_workflow_with_options_async(
                {
                    "workflow_name": job.kind,
                    "queue_name": self._kinds[job.kind],
                    "workflow_id": job.id,
                    "queue_partition_key": job.partition,
                    "priority": _NEW_JOB,
                },
                job.args,
                0,
                job.partition,
            )

    async def wake(self, job_id: str) -> None:
        """Let a job that waits between two calls continue within about a second; any other stays as it is."""
        for turn, status in (await self._alive(job_id)).items():
            if status == "DELAYED":
                await DBOS.set_workflow_delay_async(turn, delay_seconds=0)

    async def status(self, job_id: str) -> JobState:
        """The state of a job. A job that the engine gave up after too many crashes has `ended`, too."""
        known = await DBOS.list_workflows_async(workflow_ids=[job_id], load_input=False, load_output=False)
        # read second: a turn is recorded before the previous one has ended
        alive = {record.workflow_id: str(record.status) for record in known if str(record.status) in _ALIVE}
        alive = alive or await self._alive(job_id)
        if alive:
            return "running" if "PENDING" in alive.values() else "waiting"
        return "ended" if known else "unknown"

    async def _alive(self, job_id: str) -> dict[str, str]:
        """The later turns of a job that have not ended, with their status."""
        records = await DBOS.list_workflows_async(
            workflow_id_prefix=job_id + _TURN, status=_ALIVE, load_input=False, load_output=False
        )
        return {record.workflow_id: str(record.status) for record in records if _job_of(record.workflow_id) == job_id}

    async def forget(self, ended_before: timedelta) -> int:
        """Delete the records of jobs that ended longer ago than that; returns how many. dbos itself never deletes them.

        A job's first record stays while one of its turns goes on, since it makes the job known."""
        before = (datetime.now(UTC) - ended_before).isoformat()
        alive = await DBOS.list_workflows_async(status=_ALIVE, load_input=False, load_output=False)
        known = {_job_of(record.workflow_id) for record in alive}
        deleted = skipped = 0
        while records := await DBOS.list_workflows_async(
            completed_before=before,
            status=_ENDED,
            limit=_DELETE_BATCH,
            offset=skipped,
            load_input=False,
            load_output=False,
        ):
            ended = [record.workflow_id for record in records if record.workflow_id not in known]
            skipped += len(records) - len(ended)
            if ended:
                await DBOS.delete_workflows_async(ended)
            deleted += len(ended)
        return deleted

    async def drain(self, grace_s: float) -> bool:
        """Start no more calls and wait for those that run; True if all ended within `grace_s` seconds."""
        self._stopping = True
        try:
            async with asyncio.timeout(grace_s):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True


def _job_of(turn: str) -> str:
    job_id, _, number = turn.rpartition(_TURN)
    return job_id if job_id and number.isdecimal() else turn


def _next_turn(turn: str) -> str:
    job_id = _job_of(turn)
    number = int(turn[len(job_id) + len(_TURN) :]) if turn != job_id else 0
    return f"{job_id}{_TURN}{number + 1}"


def _prepare_sqlite(path: Path) -> None:
    # journal_mode persists in the file; set before dbos opens it, or its first writers meet a rollback journal
    path.parent.mkdir(parents=True, exist_ok=True)
    create_private(path)
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
    finally:
        connection.close()


def quiet_logs() -> None:
    """Log nothing of dbos below errors: it warns of every cancelled workflow."""
    logging.getLogger("dbos").setLevel(logging.ERROR)
