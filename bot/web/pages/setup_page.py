"""The page `/setup`: what the GitHub App needs, step by step, how to get what is missing, and a form for a new App.

The form is sent to GitHub with a manifest. GitHub sends the browser back to `/setup/created` with a code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from starlette.background import BackgroundTask
from starlette.responses import Response
from starlette.routing import Route

from bot.model.diagnosis import Diagnosis
from bot.store.inbox.deliveries import DeliveryRow
from bot.web.pages.site import HEADERS, Forbidden, Site, Visit

CREATED_PATH = "/setup/created"
_COLORS = {"ok": "good", "warning": "attention", "problem": "bad"}
_FORM_RULE = "form-action 'self'; "


class PostedForm(Protocol):
    """A form that a browser posts to GitHub."""

    @property
    def action(self) -> str:
        """GitHub's address, with the state."""
        ...

    @property
    def manifest(self) -> str:
        """The value of the field `manifest`."""
        ...


class MadeApp(Protocol):
    """An App that GitHub has made."""

    @property
    def name(self) -> str: ...

    @property
    def html_url(self) -> str: ...


class AppCreator(Protocol):
    """Makes an App by GitHub's manifest flow."""

    @property
    def use(self) -> Callable[[], None] | None:
        """Makes the server use the new App, once the page about it is sent; None where the operator has to restart."""
        ...

    def begin(self, name: str, organization: str | None) -> PostedForm:
        """A form with a new state. Raises UserError where no App can be made."""
        ...

    async def finish(self, code: str, state: str) -> MadeApp:
        """The App, with its credentials stored. Raises UserError for a wrong code or state, and Transient."""
        ...


@dataclass(frozen=True, slots=True)
class SetupPages:
    """The pages. `examine` asks GitHub for the state of the App; `refused` lists refused deliveries, newest first.

    `creator` is None where the server has no public address, which an App needs. `has_app` is whether an App is set."""

    site: Site
    examine: Callable[[], Awaitable[Sequence[Diagnosis]]]
    refused: Callable[[int, int], Awaitable[Sequence[DeliveryRow]]]
    creator: AppCreator | None
    has_app: bool = False

    def routes(self) -> list[Route]:
        site = self.site
        return [
            Route("/setup", site.page(self.show), methods=["GET"]),
            Route("/setup/app", site.action(self.begin), methods=["POST"]),
            Route(CREATED_PATH, site.page(self.finish), methods=["GET"]),
        ]

    async def show(self, visit: Visit) -> Response:
        """Each step with its state. Raises Forbidden for all but the operator."""
        _require_operator(visit)
        steps = await self.examine()
        refused = await self.refused(1, 0)
        values = {
            "steps": steps,
            "open": [step for step in steps if step.status != "ok"],
            "colors": _COLORS,
            "refused": refused[0] if refused else None,
            "can_create": self.creator is not None,
            "has_app": self.has_app,
        }
        return self.site.render(visit.request, "setup.html", visit.viewer, **values)

    async def begin(self, visit: Visit) -> Response:
        """A page with the form for GitHub. Raises UserError for a wrong name, and if there is a created App."""
        creator = self._creator(visit)
        form = creator.begin(visit.form.get("name", ""), visit.form.get("organization", "").strip() or None)
        response = self.site.render(visit.request, "setup_continue.html", visit.viewer, form=form)
        # browsers apply the rule to redirects too, and GitHub may lead through the sign-in of an organization
        policy = HEADERS["Content-Security-Policy"].replace(_FORM_RULE, "")
        response.headers["Content-Security-Policy"] = policy
        return response

    async def finish(self, visit: Visit) -> Response:
        """Exchange the code that GitHub sent with the browser. Raises UserError if it belongs to no form of ours."""
        query, creator = visit.request.query_params, self._creator(visit)
        app = await creator.finish(query.get("code", ""), query.get("state", ""))
        values = {"app": app, "is_used": creator.use is not None}
        response = self.site.render(visit.request, "setup_created.html", visit.viewer, **values)
        if creator.use is not None:
            response.background = BackgroundTask(creator.use)
        return response

    def _creator(self, visit: Visit) -> AppCreator:
        _require_operator(visit)
        if self.creator is None:
            raise Forbidden
        return self.creator


def _require_operator(visit: Visit) -> None:
    if not visit.viewer.is_operator:
        raise Forbidden
