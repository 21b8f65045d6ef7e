"""Logs the start and the end of each run, once: where its event is stored, which happens once however often a step is
repeated."""

from __future__ import annotations

from collections.abc import Sequence

from bot.logs import get_logger
from bot.model.events.base import Event
from bot.model.events.pull_checks import PullFinished, PullStarted
from bot.model.events.runs import SessionFinished, SessionStarted
from bot.store.database.database import now_ms

log = get_logger()


def log_life(run_id: str, place: str, created_at: int, added: Sequence[Event]) -> None:
    """Log the start and the end of a run that was created at that time, as far as they are among the new events.

    `place` is the run's repository, or the path of its working tree."""
    fields = {"run": run_id, "repo": place}
    for event in added:
        seconds = round((now_ms() - created_at) / 1000, 3)
        match event:
            case SessionStarted():
                log.info("run_started", kind="fix", waited_s=seconds, **fields)
            case PullStarted():
                log.info("run_started", kind="pull_check", waited_s=seconds, **fields)
            case SessionFinished():
                ended = {"status": str(event.status), "stop": event.stop and event.stop.reason, "proof": event.proof}
                log.info("run_ended", kind="fix", seconds=seconds, **ended, **fields)
            case PullFinished():
                ended = {"status": event.status, "stop": event.stop and event.stop.reason}
                log.info("run_ended", kind="pull_check", seconds=seconds, **ended, **fields)
            case _:
                pass
