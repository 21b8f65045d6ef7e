"""The page of one run at `/runs/{id}`: of a fix run or session, or of the checks of a pull request (REQ-RUN-009).

Its events come over the same stream as the API's; the script of the pages then loads the page again in parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from starlette.responses import Response
from starlette.routing import Route

from bot.model import Artifact
from bot.model.events.base import Event
from bot.model.events.pull_checks import PullCheckEvent
from bot.model.events.run_event import RunEvent
from bot.reports.pulls.evidence import evidence
from bot.reports.pulls.failures import grouped_failures
from bot.reports.runs.candidates import candidate_errors, result_words
from bot.reports.runs.proof import proof_line
from bot.reports.runs.usage import used
from bot.reports.runs.validation import verdict
from bot.rules.pulls.check_state import checks_of
from bot.rules.runs.run_metadata import attempts
from bot.store.runs.overview import ended_outcome
from bot.store.runs.pull_runs import PullCheckRow, PullRuns
from bot.store.runs.runs import RunRow, Runs
from bot.web.pages import attempt_chart, timeline
from bot.web.pages.diff_lines import Diff, read_diff
from bot.web.pages.run_view import attempt_views, event_rows
from bot.web.pages.site import Forbidden, NotFound, Site, Visit, redirect
from bot.web.run_feed import Followed
from bot.web.stream import EventStream, Streams, last_seen

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}\Z")
MAX_DIFF_BYTES = 1024 * 1024


class RunFiles(Protocol):
    """The logs and diffs of runs on disk."""

    def path(self, run_id: str, name: str) -> Path | None:
        """The file of a log; None if there is none of that name."""
        ...

    def names(self, run_id: str) -> Sequence[str]:
        """The names of all logs of a run, sorted."""
        ...


class RunControl(Protocol):
    """Follows and cancels runs of either kind."""

    def followed(self, kind: str) -> Followed:
        """The events of the runs of that kind (`fix` or `pull`), for a stream."""
        ...

    async def cancel(self, run_id: str) -> None:
        """Ask a run to stop; one that has ended stays as it is."""
        ...


@dataclass(frozen=True, slots=True)
class RunPages:
    """The pages of runs, with all that they read."""

    site: Site
    runs: Runs
    pulls: PullRuns
    files: RunFiles
    control: RunControl
    streams: Streams
    github_url: str
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def routes(self) -> list[Route]:
        site = self.site
        return [
            Route("/runs/{run}", site.page(self.show), methods=["GET"]),
            Route("/runs/{run}/events", site.page(self.events), methods=["GET"]),
            Route("/runs/{run}/artifacts/{artifact}", site.page(self.artifact), methods=["GET"]),
            Route("/runs/{run}/cancel", site.action(self.cancel), methods=["POST"]),
        ]

    async def row(self, visit: Visit) -> RunRow | PullCheckRow:
        """The run of the request. Raises NotFound if there is none that the viewer may see."""
        run_id = visit.request.path_params["run"]
        if not _ID.match(run_id):
            raise NotFound
        row = await self.runs.get(run_id) or await self.pulls.get(run_id)
        if row is None or not visit.viewer.may_read(row.place):
            raise NotFound
        return row

    async def show(self, visit: Visit) -> Response:
        row = await self.row(visit)
        if isinstance(row, RunRow):
            return await self._show_fix(visit, row)
        return await self._show_pull(visit, row)

    async def events(self, visit: Visit) -> Response:
        """The stream of the run's events."""
        row = await self.row(visit)
        kind = "fix" if isinstance(row, RunRow) else "pull"
        after = last_seen(visit.request)
        followed = self.control.followed(kind)
        return EventStream(self.streams, followed, row.id, after, as_notice, viewer=visit.viewer)

    async def cancel(self, visit: Visit) -> Response:
        row = await self.row(visit)
        if not visit.viewer.may_write(row.place):
            raise Forbidden
        if not row.final:
            await self.control.cancel(row.id)
        return redirect(f"/runs/{row.id}")

    async def artifact(self, visit: Visit) -> Response:
        """One artifact as a page of its fields."""
        row = await self.row(visit)
        wanted = visit.request.path_params["artifact"]
        found = next((item for item in await self._artifacts(row) if item.id == wanted), None)
        if found is None:
            raise NotFound
        values = {"run_id": row.id, "artifact": found}
        return self.site.render(visit.request, "artifact.html", visit.viewer, **values)

    async def _artifacts(self, row: RunRow | PullCheckRow) -> Sequence[Artifact]:
        return await self.runs.artifacts(row.id) if isinstance(row, RunRow) else ()

    async def _show_fix(self, visit: Visit, row: RunRow) -> Response:
        language = self.site.language
        events = await self.runs.events(row.id)
        state = self.runs.fold(events)
        outcomes = attempts(state)
        views = attempt_views(events, outcomes)
        last_diff = next((view.change.diff for view in reversed(views) if view.change and view.change.diff), "")
        values = {
            "outcome": _outcome(row, state.proof.level if state.proof else None),
            "state": state,
            "attempts": views,
            "chart": attempt_chart.draw(outcomes),
            "timeline": timeline.draw(timeline.fix_spans(events, self._end(row), language), language),
            "proof": proof_line(state.proof, language) if state.proof else "",
            "verdict": lambda step: verdict(step, language),
            "result_words": lambda one: result_words(one, language),
            "candidate_errors": lambda one: candidate_errors(one, language),
            "usage_words": lambda usage: used(usage, language),
            "artifacts": await self.runs.artifacts(row.id),
            "diff": self._diff(row.id, last_diff),
            "diff_name": last_diff,
            **self._shared(visit, row, events),
        }
        return self.site.render(visit.request, "fix_run.html", visit.viewer, **values)

    async def _show_pull(self, visit: Visit, row: PullCheckRow) -> Response:
        language = self.site.language
        events = await self.pulls.events(row.id)
        state = self.pulls.fold(events)
        checks = checks_of(row.spec, state)
        spans = timeline.pull_spans(events, self._end(row), language, live=not row.final)
        values = {
            "outcome": ended_outcome(row.status, checks),
            "state": state,
            "checks": checks,
            "failures": grouped_failures,
            "evidence": lambda failure: evidence(failure, row.spec.head_sha[:7], state.base_sha[:7], language),
            "timeline": timeline.draw(spans, language),
            "verdict": lambda step: verdict(step, language),
            **self._shared(visit, row, events),
        }
        return self.site.render(visit.request, "pull_check.html", visit.viewer, **values)

    def _shared(
        self, visit: Visit, row: RunRow | PullCheckRow, events: Sequence[RunEvent] | Sequence[PullCheckEvent]
    ) -> dict[str, Any]:
        spec = row.spec
        repo = spec.repo.full_name if spec.repo is not None else ""
        return {
            "row": row,
            "live": not row.final,
            "events": event_rows(events, self.site.language),
            "last_event": events[-1].id if events else 0,
            "logs": self.files.names(row.id),
            "repo_url": f"{self.github_url}/{repo}" if repo else "",
            "may_cancel": not row.final and visit.viewer.may_write(row.place),
        }

    def _end(self, row: RunRow | PullCheckRow) -> datetime:
        """The time up to which what has no end is drawn."""
        return self.now() if row.ended_at is None else datetime.fromtimestamp(row.ended_at / 1000, UTC)

    def _diff(self, run_id: str, name: str) -> Diff | None:
        path = self.files.path(run_id, name) if name else None
        if path is None:
            return None
        with path.open("rb") as file:
            content = file.read(MAX_DIFF_BYTES)
        return read_diff(content.decode("utf-8", "replace"))


def as_notice(event: Event) -> bytes:
    """The message of an event for the script of the pages, which needs its type alone."""
    return b"id: %d\nevent: run\ndata: %s\n\n" % (event.id, event.type.encode())


def _outcome(row: RunRow, proof: str | None) -> str:
    return proof if proof is not None and row.status == "success" else row.status
