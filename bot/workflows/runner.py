"""One of the two places where errors are caught (house rule 9): a job's fault becomes a wait, a quiet end, or a reason
that people see. What is none of the four kinds is a bug of ours; it is logged whole and told as such."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from bot.engine import JobArgs, JobStep, Outcome
from bot.errors import Stale, Transient, UserError

MAX_FAULTS = 8
_LONGEST_WAIT_S = 120.0

Advance = Callable[[JobArgs], Awaitable[Outcome]]
Bury = Callable[[JobArgs, str, str], Awaitable[None]]


def backoff_s(faults: int) -> float:
    """2 s, doubling, at most 2 min (trust.md 3, *5xx / HTML 200 / timeouts*)."""
    return min(2.0 * 2.0**faults, _LONGEST_WAIT_S)


def guarded(kind: str, advance: Advance, bury: Bury) -> JobStep:
    """A job's function made safe to call from the engine: it always returns an Outcome."""
    log = structlog.get_logger().bind(job=kind)

    async def step(args: JobArgs, faults: int) -> Outcome:
        try:
            return await advance(args)
        except Transient as error:
            if faults + 1 < MAX_FAULTS:
                log.info("job_waits", args=args, faults=faults + 1, because=str(error))
                return Outcome(done=False, fault=True, wait_s=max(error.retry_after_s or 0.0, backoff_s(faults)))
            reason, details = "gave_up", f"still failing after {MAX_FAULTS} tries: {error}"
        except Stale as error:
            log.info("job_dropped", args=args, because=str(error))
            reason, details = "stale", str(error)
        except UserError as error:
            log.info("job_refused", args=args, because=str(error))
            reason, details = getattr(error, "reason", "refused"), str(error)
        except Exception as error:
            log.exception("job_bug", args=args)
            reason, details = (
                "internal_error",
                f"{type(error).__name__}: this is a fault of Mendbot; the log has the rest",
            )
        await bury(args, reason, details)
        return Outcome(done=True)

    return step
