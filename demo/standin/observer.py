"""What a person at the stand-in can see happen and wait for: requests, deliveries, conditions, faults.

The base of `World`; it also carries each call from the caller's thread to the stand-in's loop and back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from demo.standin.faults import Faults
from demo.standin.records import LoggedRequest
from demo.standin.views import DeliveryView, delivery_view
from demo.standin.webhooks import Hooks

T = TypeVar("T")

PATIENCE_S = 120.0


class Observer:
    """Made with the running loop; its methods may be called from any thread but the loop's own."""

    def __init__(self, hooks: Hooks, loop: asyncio.AbstractEventLoop) -> None:
        self._hooks = hooks
        self._state = hooks.state
        self._loop = loop

    def _do(self, work: Callable[[], Awaitable[T]]) -> T:
        async def run() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(timeout=PATIENCE_S)

    def _now(self, work: Callable[[], T]) -> T:
        async def run() -> T:
            return work()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(timeout=PATIENCE_S)

    @property
    def faults(self) -> Faults:
        return self._state.faults

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """Every request so far, oldest first."""
        return tuple(self._state.requests)

    @property
    def deliveries(self) -> tuple[DeliveryView, ...]:
        """Every delivery so far, oldest first, also those not yet sent."""
        return self._now(lambda: tuple(delivery_view(one) for one in self._hooks.deliveries))

    @property
    def delivery_count(self) -> int:
        """How many deliveries there are so far, for whoever looks often."""
        return len(self._hooks.deliveries)

    def wait_for(self, ready: Callable[[], T | None], timeout_s: float = 60.0, what: str = "the condition") -> T:
        """The first true value of `ready`, asked again whenever something happened here; `TimeoutError` else."""
        deadline = time.monotonic() + timeout_s
        while True:
            seen = self._state.pulse.version
            found = ready()
            if found:
                return found
            if not self._state.pulse.wait_past(seen, deadline - time.monotonic()):
                raise TimeoutError(f"waited {timeout_s:g} s for {what}")

    def wait_delivered(self, timeout_s: float = 30.0) -> None:
        """Until no webhook is on its way."""
        self.wait_for(lambda: self._now(lambda: not self._hooks.pending), timeout_s, "the webhooks to be delivered")

    def redeliver(self, delivery_id: int) -> int:
        """Press "Redeliver"; -> the id of the new attempt, which has the same GUID."""
        return self._now(lambda: self._hooks.redeliver(delivery_id).id)

    def ping(self) -> None:
        self._now(self._hooks.ping)

    def hold_webhooks(self, held: bool = True) -> None:
        """Keep new webhooks back, or send what was kept."""
        self._now((lambda: setattr(self._hooks, "paused", True)) if held else self._hooks.resume)

    def set_webhook_url(self, url: str | None) -> None:
        """Where webhooks go from now on; None: nowhere, and none is logged."""
        self._now(lambda: setattr(self._state.app, "webhook_url", url))

    def set_clock_skew(self, seconds: float) -> None:
        """GitHub's clock runs this far ahead of the machine's."""
        self._state.skew_s = seconds
