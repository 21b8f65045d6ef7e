"""Locks runs for one worker at a time in this process, and interrupts them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol
from weakref import WeakValueDictionary

from bot.errors import Transient

_CANCEL_POLL_S = 1.0


class _Stoppable(Protocol):
    @property
    def cancel_because(self) -> object: ...


class CancelSource(Protocol):
    """The store that records requests to stop a run."""

    async def get(self, run_id: str, /) -> _Stoppable | None: ...


class RunControl:
    """Lets one worker at a time work on a run, and interrupts it. Bound to the worker's event loop."""

    def __init__(self) -> None:
        # weak, so that they last only while they are used: a server has more runs than it should hold
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._signals: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()
        self._effects: set[asyncio.Task[None]] = set()
        self._halting = False
        self.claims: dict[str, frozenset[str]] = {}
        """Files that runs which are just beginning are about to work on, by run; for `workflows.runs.begin` alone."""

    def lock(self, run_id: str) -> asyncio.Lock:
        """The lock of whoever works on the run; hold the result as long as it is needed."""
        return self._locks.setdefault(run_id, asyncio.Lock())

    def signal(self, run_id: str) -> None:
        """Interrupt what is being done for the run in this process."""
        waiting = self._signals.get(run_id)
        if waiting is not None:
            waiting.set()

    async def interruptibly(self, run_id: str, effect: Coroutine[Any, Any, None], runs: CancelSource) -> bool:
        """Do an effect until it ends or the run is asked to stop; True if it ended. Its errors are raised here.

        Once the process stops this never returns: an interrupted effect is done again after the next start."""
        task = asyncio.create_task(effect)
        self._effects.add(task)
        stopped = asyncio.create_task(self.cancelled(run_id, runs))
        try:
            await asyncio.wait((task, stopped), return_when=asyncio.FIRST_COMPLETED)
            ended = task.done()
        finally:
            for one in (task, stopped):
                one.cancel()
            await asyncio.gather(task, stopped, return_exceptions=True)
            self._effects.discard(task)
        if self._halting:
            await asyncio.Event().wait()
        if ended:
            task.result()
        return ended

    async def halt(self) -> None:
        """Interrupt all effects with their processes, before this process ends."""
        self._halting = True
        effects = tuple(self._effects)
        for task in effects:
            task.cancel()
        await asyncio.gather(*effects, return_exceptions=True)

    async def cancelled(self, run_id: str, runs: CancelSource) -> None:
        """Return when someone asked the run to stop; another process's request is seen within a second."""
        signal = self._signals.setdefault(run_id, asyncio.Event())
        while True:
            try:
                async with asyncio.timeout(_CANCEL_POLL_S):
                    await signal.wait()
                    return
            except TimeoutError:
                try:
                    row = await runs.get(run_id)
                except Transient:
                    continue  # a busy database is read again in a second
                if row is not None and row.cancel_because is not None:
                    return
