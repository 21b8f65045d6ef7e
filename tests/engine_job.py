"""A process with an engine and one kind of job, for `test_engine`: each call writes a line to a file and sleeps.

Usage: python -m tests.engine_job HOME JOB... ; a job is ID, PARTITION, CALLS and seconds per call, joined by commas.
-1 seconds kill the process; in place of seconds, a call may last until there is a file of that name, or of that
name and the call's number, in HOME. `wait_NAME` and `rest_NAME` ask, until there is a file of that NAME, to be called
again after a tenth of a second or ten minutes; a file `wake` wakes the first job, `at_once` says how many may run, and
`database_url` where the engine's records are. Two recoveries are enough here: no test need wait for thirty."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

from bot import engine as engines
from bot.engine import Engine, quiet_logs
from bot.model.jobs import Job, JobArgs, JobState, Queue, StepResult
from tests.machine import PATIENCE_S

WAITS = {"wait": 0.1, "rest": 600.0}


async def main(home: Path, jobs: list[Job]) -> None:
    def note(text: str) -> None:
        with (home / "calls.txt").open("a") as log:
            log.write(f"{os.getpid()} {text}\n")

    async def step(args: JobArgs, faults: int) -> StepResult:
        name, calls = args["name"], args["calls"]
        done = home / f"{name}_done"
        count = int(done.read_text()) if done.exists() else 0
        note(f"{name} began {count + 1}" + (f" after {faults} faults" if faults else ""))
        if args["lasts"] == "-1":
            os.kill(os.getpid(), signal.SIGKILL)
        how, _, until = args["lasts"].partition("_")
        if how in WAITS and not (home / until).exists():
            note(f"{name} waits")
            return StepResult(done=False, wait_s=WAITS[how], fault=how == "wait")
        if how not in WAITS and args["lasts"].isidentifier():
            ends = home / args["lasts"], home / f"{args['lasts']}{count + 1}"
            while not any(end.exists() for end in ends):  # noqa: ASYNC110  # made by another process or another job
                await asyncio.sleep(0.02)
        elif how not in WAITS:
            await asyncio.sleep(float(args["lasts"]))
        done.write_text(str(count + 1))
        note(f"{name} ended {count + 1}")
        return StepResult(done=count + 1 >= calls)

    engines._MAX_RECOVERIES = 2
    at_once = int((home / "at_once").read_text()) if (home / "at_once").exists() else 4
    queue = Queue(name="fix", at_once=at_once, per_partition=2, poll_s=0.05)
    elsewhere = home / "database_url"
    url = elsewhere.read_text() if elsewhere.exists() else f"sqlite:///{home / 'engine.db'}"
    engine = Engine(url, "test-1", [queue], {"fix": ("fix", step)})
    engine.start()
    quiet_logs()
    await engine.listen()
    for job in jobs:
        await engine.enqueue(job)
    note("ready")
    while not (home / "stop").exists():  # asked from another process
        await asyncio.sleep(0.02)
        if (home / "wake").exists():
            (home / "wake").unlink()
            await engine.wake(jobs[0].id)
    draining = asyncio.create_task(engine.drain(float((home / "stop").read_text())))
    await asyncio.sleep(0)
    (home / "draining").touch()
    drained = await draining
    for job in jobs:
        done = home / f"{job.args['name']}_done"
        if done.exists() and int(done.read_text()) >= job.args["calls"]:
            await until(engine, job, "ended")
        elif job.args["lasts"].startswith("rest_"):
            await until(engine, job, "waiting")
    states = [await engine.status(job.id) for job in jobs]
    if (home / "forget").exists():
        gone = await engine.forget(timedelta())
        states += [f"forgot {gone}", *[await engine.status(job.id) for job in jobs]]
    note(f"drained {drained} {' '.join(states)}")
    os._exit(0)


async def until(engine: Engine, job: Job, state: JobState) -> None:
    """The engine writes down what a call came to a moment after it has ended."""
    async with asyncio.timeout(PATIENCE_S):
        while await engine.status(job.id) != state:  # noqa: ASYNC110  # dbos tells nobody
            await asyncio.sleep(0.02)


def job_of(text: str) -> Job:
    name, partition, calls, lasts = text.split(",")
    args = {"name": name, "calls": int(calls), "lasts": lasts}
    return Job(kind="fix", id=f"fix:{name}", partition=partition, args=args)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), [job_of(text) for text in sys.argv[2:]]))
