"""The page `/setup`: what the GitHub App needs, step by step, and how to get what is missing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from bot.model.diagnosis import Diagnosis
from bot.store.inbox.deliveries import DeliveryRow
from bot.web.pages.site import Forbidden, Site, Visit

_COLORS = {"ok": "good", "warning": "attention", "problem": "bad"}


@dataclass(frozen=True, slots=True)
class SetupPage:
    """The page. `examine` asks GitHub for the state of the App; `refused` lists refused deliveries, newest first."""

    site: Site
    examine: Callable[[], Awaitable[Sequence[Diagnosis]]]
    refused: Callable[[int, int], Awaitable[Sequence[DeliveryRow]]]

    async def show(self, visit: Visit) -> Response:
        """Each step with its state. Raises Forbidden for all but the operator."""
        if not visit.viewer.is_operator:
            raise Forbidden
        steps = await self.examine()
        refused = await self.refused(1, 0)
        values = {
            "steps": steps,
            "open": [step for step in steps if step.status != "ok"],
            "colors": _COLORS,
            "refused": refused[0] if refused else None,
        }
        return self.site.render(visit.request, "setup.html", visit.viewer, **values)
