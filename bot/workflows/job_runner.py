"""One of the two places where errors are caught (architecture rule 9): a job's fault becomes a wait, a quiet end, or a
reason that people see. An error of none of the four kinds is a bug of ours: it is logged whole and reported as one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NoReturn

from bot.errors import Shortage, Stale, Transient, UserError, shortage_behind
from bot.logs import get_logger
from bot.model.jobs import JobArgs, JobStep, StepResult
from bot.model.reasons import ExplainedStop
from bot.reports.locale.catalog import messages
from bot.reports.locale.reasons import english, user_error
from bot.rules.reasons import error_reason, make_reason

MAX_FAULTS = 40
"""In a row, with the waits between them: over an hour. GitHub may be down for ten minutes and more (threats.md 3), and
a call asks three times by itself."""

MAX_WAIT_S = 120.0
_PAUSE_S = 5.0

Advance = Callable[[JobArgs], Awaitable[StepResult]]
Fail = Callable[[JobArgs, ExplainedStop, bool], Awaitable[None]]
"""End the job's work for that reason; the last argument says whether to clear up too, which may fail."""


def backoff_s(faults: int) -> float:
    """2 s, doubling, at most 2 min (threats.md 3, *5xx / HTML 200 / timeouts*)."""
    return min(2.0 * 2.0 ** min(faults, 10), MAX_WAIT_S)


def guarded(kind: str, advance: Advance, fail: Fail) -> JobStep:
    """A job's function made safe to call from the engine: it always returns a StepResult.

    A job never ends unrecorded: where `fail` raises, it is called once more without clearing up. Where that raises too,
    the job is tried again later."""
    log = get_logger().bind(job=kind)
    messages("en")  # read now: a machine without a free descriptor could not read the message of that error

    async def step(args: JobArgs, faults: int) -> StepResult:
        try:
            return await advance(args)
        except Transient as error:
            if (stop := given_up(error, faults)) is None:
                return wait(args, error, faults)
        except Stale as error:
            log.info("job_dropped", args=args, because=str(error))
            stop = ExplainedStop.of("stale", error_reason(error))
        except UserError as error:
            log.info("job_refused", args=args, because=str(error))
            stop = ExplainedStop.of(getattr(error, "reason", "refused"), error_reason(error))
        except Exception as error:
            lacking = shortage_behind(error)
            if lacking is None:
                log.exception("job_bug", args=args)
                stop = _our_fault(error)
            elif (stop := given_up(user_error(lacking, Shortage), faults)) is None:
                return wait(args, user_error(lacking, Shortage), faults)
        return await end(args, stop, faults)

    def given_up(error: Transient, faults: int) -> ExplainedStop | None:
        if faults + 1 < MAX_FAULTS:
            return None
        return ExplainedStop.of("gave_up", make_reason("given_up.tries", count=MAX_FAULTS, error=error_reason(error)))

    def wait(args: JobArgs, error: Transient, faults: int) -> StepResult:
        log.info("job_waits", args=args, faults=faults + 1, because=str(error))
        return StepResult(done=False, fault=True, wait_s=max(error.retry_after_s or 0.0, backoff_s(faults)))

    async def end(args: JobArgs, stop: ExplainedStop, faults: int) -> StepResult:
        for tidy in (True, False):
            try:
                await fail(args, stop, tidy)
                return StepResult(done=True)
            except Exception:
                log.exception("job_not_failed", args=args, tidy=tidy)
        return StepResult(done=False, fault=True, wait_s=backoff_s(faults))

    return step


def _our_fault(error: Exception) -> ExplainedStop:
    return ExplainedStop.of("internal_error", make_reason("fault", error=type(error).__name__))


async def persistently(name: str, loop: Callable[[], Awaitable[None]]) -> NoReturn:
    """Call one of the worker's loops for ever. A locked database or a full disk does not end it, and a bug of ours ends
    none of the others."""
    log = get_logger().bind(loop=name)
    while True:
        try:
            await loop()
        except Transient as error:
            log.warning("loop_waits", because=str(error))
        except Exception as error:
            lacking = shortage_behind(error)
            if lacking is None:
                log.exception("loop_bug")
            else:
                log.warning("loop_waits", because=english(lacking))
        await asyncio.sleep(_PAUSE_S)
