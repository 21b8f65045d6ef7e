"""The page `/groups`: which issues were grouped, and why, as pictures with tables beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import Response

from bot.model import Language
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import reason_text
from bot.store.inbox.candidates import Burst, Candidates
from bot.store.runs.runs import RunRow, Runs
from bot.web.pages.group_picture import KEY, Edge, GroupPicture, draw
from bot.web.pages.paging import Paging, page_number
from bot.web.pages.site import Site, Visit

PER_PAGE = 10
MAX_REPO = 300


@dataclass(frozen=True, slots=True)
class GroupView:
    """The group of a run, with its picture and the address of its issues on GitHub."""

    row: RunRow
    picture: GroupPicture
    issues_url: str


@dataclass(frozen=True, slots=True)
class GroupsPage:
    """The page, with all that it reads."""

    site: Site
    runs: Runs
    candidates: Candidates
    github_url: str

    async def show(self, visit: Visit) -> Response:
        """The groups of several issues, the newest first, ten on a page."""
        repo = visit.request.query_params.get("repo", "").strip()[:MAX_REPO]
        visible = visit.viewer.repositories
        number = page_number(visit.request.query_params.get("page", ""))
        rows, count = await self.runs.groups(PER_PAGE, (number - 1) * PER_PAGE, repo=repo, visible=visible)
        values = {
            "repo": repo,
            "groups": [self._view(row) for row in rows],
            "paging": Paging.of("/groups", {"repo": repo}, number, PER_PAGE, count),
            "repositories": await self.runs.grouped_repositories(visible),
            "waiting": await self._waiting(visit, repo) if number == 1 else (),
            "ends": lambda edge: ends(edge, self.site.language),
            "text": lambda reason: reason_text(reason, self.site.language),
            "github_url": self.github_url,
        }
        return self.site.render(visit.request, "groups.html", visit.viewer, **values)

    def _view(self, row: RunRow) -> GroupView:
        picture = draw(row.spec.issues, row.spec.reasons)
        return GroupView(row, picture, f"{self.github_url}/{row.place}/issues")

    async def _waiting(self, visit: Visit, repo: str) -> Sequence[Burst]:
        """The issues that wait for the end of their quiet period."""
        return [
            burst
            for burst in await self.candidates.bursts()
            if visit.viewer.may_read(burst.repo.full_name) and repo.lower() in ("", burst.repo.full_name.lower())
        ]


def ends(edge: Edge, language: Language) -> str:
    """The two ends of an edge in words: two issues, or an issue and the key."""
    if edge.low == KEY:
        return t(language, "pages.groups.to_key", number=edge.high)
    return t(language, "pages.groups.pair", low=edge.low, high=edge.high)
