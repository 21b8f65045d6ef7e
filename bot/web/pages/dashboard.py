"""The dashboard at `/`: what runs, waits, failed and was fixed; and all runs of one state at `/runs`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from starlette.responses import Response

from bot.config import Settings
from bot.reports.runs.usage import dollars
from bot.rules.reasons import make_reason
from bot.store.runs.agent_usage import AgentUsage, utc_day
from bot.store.runs.overview import Overview, RunLine
from bot.web.api import invalid, number
from bot.web.health import Probe
from bot.web.pages.rendering import milliseconds
from bot.web.pages.site import NotFound, PageEndpoint, Site, Visit

State = Literal["running", "waiting", "failed", "fixed", "cancelled", "checked"]
STATES: tuple[State, ...] = get_args(State)
SHOWN = 10
PAGE = 50
MAX_OFFSET = 10_000

_FIX_STATUSES: Mapping[State, tuple[str, ...]] = {
    "running": ("running",),
    "waiting": ("queued",),
    "failed": ("failed",),
    "fixed": ("success",),
    "cancelled": ("cancelled",),
}
_PULL_STATUSES: Mapping[State, tuple[str, ...]] = {
    "running": ("running",),
    "waiting": ("queued",),
    "cancelled": ("cancelled",),
    "checked": ("done",),
}


@dataclass(frozen=True, slots=True)
class Health:
    """The parts of the server as `/readyz` knows them, and the settings with its limits."""

    probes: Mapping[str, Probe]
    remote: Callable[[], Mapping[str, str]]
    settings: Settings

    async def missing(self) -> Mapping[str, str]:
        """The problem of each part that has one."""
        found = {name: await probe() for name, probe in self.probes.items()}
        return {name: problem for name, problem in found.items() if problem is not None}


def dashboard(site: Site, overview: Overview, usage: AgentUsage, health: Health) -> PageEndpoint:
    """The page at `/`."""

    async def show(visit: Visit) -> Response:
        places = visit.viewer.places
        shown: tuple[State, ...] = ("running", "waiting", "failed", "fixed", "checked")
        remote = dict(health.remote()) if visit.viewer.is_operator else {}
        asked_at = remote.pop("asked_at", None)
        lists = await asyncio.gather(*(lines(overview, state, SHOWN, 0, places) for state in shown))
        values = {
            "lists": list(zip(shown, lists, strict=True)),
            "totals": totals(await overview.counts(places)),
            "candidates": await overview.candidates(places),
            "slots": await overview.slots(places),
            "max_worktrees": health.settings.max_worktrees,
            "used": await usage.day(utc_day(), places),
            "dollars": dollars,
            "day_cost": health.settings.model_day_cost if visit.viewer.is_operator else None,
            "day_tokens": health.settings.model_day_tokens,
            "missing": await health.missing(),
            "remote": remote,
            "asked_at": asked_at and milliseconds(datetime.fromisoformat(asked_at)),
        }
        return site.render(visit.request, "dashboard.html", visit.viewer, **values)

    return show


def all_runs(site: Site, overview: Overview) -> PageEndpoint:
    """The page at `/runs?state=`, 50 runs at a time."""

    async def show(visit: Visit) -> Response:
        request, places = visit.request, visit.viewer.places
        state = next((name for name in STATES if name == request.query_params.get("state", "running")), None)
        if state is None:
            raise invalid("state", make_reason("request.run_state", states=", ".join(STATES)))
        offset = number(request, "offset", 0, most=MAX_OFFSET)
        found = await lines(overview, state, PAGE + 1, offset, places)
        values = {
            "state": state,
            "states": STATES,
            "totals": totals(await overview.counts(places)),
            "lines": found[:PAGE],
            "newer": max(0, offset - PAGE) if offset else None,
            "older": offset + PAGE if len(found) > PAGE and offset + PAGE <= MAX_OFFSET else None,
        }
        if offset and not found:
            raise NotFound
        return site.render(request, "runs.html", visit.viewer, **values)

    return show


async def lines(
    overview: Overview, state: State, limit: int, offset: int, places: Collection[str] | None
) -> Sequence[RunLine]:
    """The newest runs of both kinds in this state."""
    end = limit + offset
    found: list[RunLine] = []
    if state in _FIX_STATUSES:
        found += await overview.fix_runs(_FIX_STATUSES[state], end, places)
    if state in _PULL_STATUSES:
        found += await overview.pull_checks(_PULL_STATUSES[state], end, places)
    found.sort(key=lambda line: (line.created_at, line.id), reverse=True)
    return found[offset:end]


def totals(counts: Mapping[str, Mapping[str, int]]) -> Mapping[State, int]:
    """How many runs of both kinds are in each state."""
    fixes, pulls = counts.get("runs", {}), counts.get("pull_runs", {})
    return {
        state: sum(fixes.get(status, 0) for status in _FIX_STATUSES.get(state, ()))
        + sum(pulls.get(status, 0) for status in _PULL_STATUSES.get(state, ()))
        for state in STATES
    }
