"""The page `/history`: errors by file and fingerprint, what fixed them, their trend, and flaky tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.responses import Response

from bot.model.pulls import FailureHistory
from bot.reports.format.error_line import readable
from bot.reports.history.guidance import resolution_links
from bot.store.history.entries import Entries, Entry, EntryFilter
from bot.store.history.outcomes import Outcomes
from bot.store.history.remembered_runs import RememberedRuns
from bot.web.pages import error_trend
from bot.web.pages.paging import Paging, page_number
from bot.web.pages.site import Site, Visit

PER_PAGE = 25
MAX_FILTER = 300
MAX_FLAKY = 15
MAX_FILES = 12
MAX_PATCH = 4_000
"""The maximal number of characters of a patch on the page; the run's own page has the whole diff."""


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry as the page shows it. `links` are those of its repository on GitHub: their text and address.

    `place` is its repository or directory, in the letters of its name where they are stored."""

    entry: Entry
    place: str
    title: str
    seen: FailureHistory | None
    run: str
    links: tuple[tuple[str, str], ...]
    patch: str
    is_cut: bool


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """The page, with all that it reads."""

    site: Site
    entries: Entries
    outcomes: Outcomes
    remembered: RememberedRuns
    github_url: str
    clock: Callable[[], float] = time.time

    async def show(self, visit: Visit) -> Response:
        """The entries of the filter in the query, 25 on a page."""
        repo, file, text = (_field(visit, name) for name in ("repo", "file", "text"))
        repositories = visit.viewer.repositories
        visible = None if repositories is None else frozenset(repositories)
        wanted = EntryFilter(repo=repo, file=file, text=text, visible=visible)
        number = page_number(visit.request.query_params.get("page", ""))
        page = await self.entries.page(wanted, PER_PAGE, (number - 1) * PER_PAGE)
        now_ms = int(self.clock() * 1000)
        days = await self.outcomes.by_day(error_trend.first_day(now_ms), repo=repo, visible=visible)
        query = {"repo": repo, "file": file, "text": text}
        values = {
            **query,
            "entries": await self._views(page.entries),
            "paging": Paging.of("/history", query, number, PER_PAGE, page.count),
            "repositories": await self.entries.repositories(visible),
            # the index of files is of all repositories together
            "files": await self.entries.files(MAX_FILES) if visit.viewer.is_operator else (),
            "trend": error_trend.draw(days, now_ms),
            "flaky": await self.remembered.flaky(MAX_FLAKY, repo=repo, visible=visible),
            "link": lambda **fields: _address(query | fields),
        }
        return self.site.render(visit.request, "history.html", visit.viewer, **values)

    async def _views(self, entries: Sequence[Entry]) -> list[EntryView]:
        by_repo: dict[str, list[str]] = {}
        for entry in entries:
            if repo := entry.known.resolution.repo:
                by_repo.setdefault(repo, []).append(entry.known.error)
        seen = {repo: await self.outcomes.seen(repo, errors) for repo, errors in by_repo.items()}
        return [self._view(entry, seen.get(entry.known.resolution.repo or "", {})) for entry in entries]

    def _view(self, entry: Entry, seen: Mapping[str, FailureHistory]) -> EntryView:
        known, resolution = entry.known, entry.known.resolution
        repo, patch = resolution.repo or "", resolution.patch or ""
        return EntryView(
            entry=entry,
            place=repo if repo.lower() == entry.repo else entry.repo,
            title=readable(known.error, known.raw),
            seen=seen.get(known.error),
            # without an attempt, a command recorded it
            run=resolution.run_id or "" if resolution.attempt is not None else "",
            links=tuple((text, self._on_github(repo, text)) for text in resolution_links(known, repo)),
            patch=patch[:MAX_PATCH],
            is_cut=len(patch) > MAX_PATCH,
        )

    def _on_github(self, repo: str, text: str) -> str:
        kind = f"pull/{text[1:]}" if text.startswith("#") else f"commit/{text}"
        return f"{self.github_url}/{repo}/{kind}"


def _field(visit: Visit, name: str) -> str:
    return visit.request.query_params.get(name, "").strip()[:MAX_FILTER]


def _address(query: Mapping[str, str]) -> str:
    """The page with that filter."""
    fields = {name: value for name, value in query.items() if value}
    return f"/history?{urlencode(fields)}" if fields else "/history"
