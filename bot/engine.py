"""The durable engine, behind one door: the only import of dbos. A job is one function that is called again and
again until it says it is done; each call is a recorded step, so a crash costs at most the call under way.

The rules it keeps are those of DBOS 3.4: a pinned application version, a stable executor id, WAL before launch,
workflow ids made from the intent, JSON instead of pickle, few recovery attempts. A job that waits holds no place in its
queue: what is left of it is a record of its own, a turn, which is due when the wait is over."""

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
"""Starts of the process that one job may live through. A job that kills the process must be given up some day, but
dbos counts every restart alike, also those between which it goes on well; each turn of a job counts anew."""

_STEP_LIMIT_S = 8 * 3600.0
"""Far above the sum of the limits that the processes of one call have themselves: a job past it is given up."""


_ALIVE = ["PENDING", "ENQUEUED", "DELAYED"]
_ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
_FORGOTTEN_AT_ONCE = 500
_FRESH = 1
"""The priority of a job that begins. One that has waited comes first (0): it may hold what others wait for."""

_TURN = "~"
"""Before the number of a job's turn, in the id of the engine's record of it; the first turn's is the job's own."""


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
        async def loop(args: JobArgs, faults: int = 0, partition: str = "") -> None:
            while True:
                if self._stopping:
                    await asyncio.Event().wait()  # the process is leaving; this workflow goes on after the restart
                outcome = StepResult.model_validate(await call(args, faults))
                if outcome.done:
                    return
                faults = faults + 1 if outcome.fault else 0
                if outcome.wait_s <= 0:
                    continue
                if partition:
                    await self._hand_over(kind, args, faults, partition, outcome.wait_s)
                    return
                # put in its queue by a release that knew no turns: its record goes on as it was begun
                await DBOS.sleep_async(outcome.wait_s)

    async def _hand_over(self, kind: str, args: JobArgs, faults: int, partition: str, wait_s: float) -> None:
        """Leave the rest of a job to its next turn, so that it holds no place in its queue while it waits. The turn's
        id makes it one turn, however often a crash has this done again."""
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
        """Launch, recover what this executor had under way, and listen to the queues."""
        DBOS.launch()

    async def listen(self) -> None:
        """Register the queues; their limits are this start's."""
        for queue in self._queues:
            await DBOS.register_queue_async(
                queue.name,
                worker_concurrency=queue.at_once,
                partition_concurrency=min(queue.per_partition, queue.at_once),
                polling_interval_sec=queue.poll_s,
                on_conflict="always_update",
            )

    async def enqueue(self, job: Job) -> None:
        """Put a job in its queue; one that is known already, in whatever state, is left as it is."""
        # a job's step may enqueue another, which dbos takes for the start of a child and refuses: it knows its step by
        # a context variable, so this is done where there is none
        await asyncio.create_task(self._put(job), context=contextvars.Context())

    async def _put(self, job: Job) -> None:
        async with self._enqueue_slots:
            await DBOS.enqueue_workflow_with_options_async(
                {
                    "workflow_name": job.kind,
                    "queue_name": self._kinds[job.kind],
                    "workflow_id": job.id,
                    "queue_partition_key": job.partition,
                    "priority": _FRESH,
                },
                job.args,
                0,
                job.partition,
            )

    async def wake(self, job_id: str) -> None:
        """Let a job that waits between two calls go on within about a second; any other stays as it is."""
        for turn, status in (await self._alive(job_id)).items():
            if status == "DELAYED":
                await DBOS.set_workflow_delay_async(turn, delay_seconds=0)

    async def status(self, job_id: str) -> JobState:
        """What has become of a job; `ended` is also what the engine gave up after too many crashes."""
        known = await DBOS.list_workflows_async(workflow_ids=[job_id], load_input=False, load_output=False)
        # asked second: a turn is there before the one that handed over to it has ended
        alive = {one.workflow_id: str(one.status) for one in known if str(one.status) in _ALIVE}
        alive = alive or await self._alive(job_id)
        if alive:
            return "running" if "PENDING" in alive.values() else "waiting"
        return "ended" if known else "unknown"

    async def _alive(self, job_id: str) -> dict[str, str]:
        """The turns of a job that have not ended, but for the first, with their status."""
        found = await DBOS.list_workflows_async(
            workflow_id_prefix=job_id + _TURN, status=_ALIVE, load_input=False, load_output=False
        )
        return {one.workflow_id: str(one.status) for one in found if _job_of(one.workflow_id) == job_id}

    async def forget(self, ended_before: timedelta) -> int:
        """Delete the records of jobs that ended longer ago than that; how many. By itself dbos keeps them for ever.

        A job's first record stays while one of its turns goes on: by it the job is known."""
        before = (datetime.now(UTC) - ended_before).isoformat()
        alive = await DBOS.list_workflows_async(status=_ALIVE, load_input=False, load_output=False)
        known = {_job_of(one.workflow_id) for one in alive}
        gone = kept = 0
        while found := await DBOS.list_workflows_async(
            completed_before=before,
            status=_ENDED,
            limit=_FORGOTTEN_AT_ONCE,
            offset=kept,
            load_input=False,
            load_output=False,
        ):
            over = [one.workflow_id for one in found if one.workflow_id not in known]
            kept += len(found) - len(over)
            if over:
                await DBOS.delete_workflows_async(over)
            gone += len(over)
        return gone

    async def drain(self, grace_s: float) -> bool:
        """Let calls under way end, start no more; True if all ended within `grace_s` seconds."""
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
    """Keep dbos' own lines at errors: a cancelled workflow is no fault of anyone's."""
    logging.getLogger("dbos").setLevel(logging.ERROR)
