"""The interface to GitHub: one `GitHub` per process, one `RepositoryClient` per repository.

Reads return values of `bot.model`; effects are keyed and may be repeated any number of times."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from pydantic import SecretStr

from bot.errors import MendbotError, Stale, UserError
from bot.github import app_setup, deliveries
from bot.github.answers import Invalid, NotFound, RateBudget, Unauthorized, parse_model
from bot.github.api import Api, GitHubTransport
from bot.github.app_setup import AppSetup, HookSetup, RecentDelivery
from bot.github.auth import AppIdentity, AppJwt, FixedToken, RepoToken, Tokens
from bot.github.clock import Clock, ServerClock
from bot.github.locks import Locks
from bot.github.rate_limit import RateLimiter
from bot.github.repository import ROLES, RepositoryClient
from bot.http import AsyncClient
from bot.model import Repo
from bot.model.github_json import AppJson, GitHubModel
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import error_reason, make_reason

__all__ = ["DEFAULT_AUTHOR", "ROLES", "AppIdentity", "GitHub", "RepositoryClient"]

DEFAULT_AUTHOR = "mendbot[bot] <mendbot[bot]@users.noreply.github.com>"

_REPO = "/repos/{owner}/{repo}"


class _OwnApp(AppJson):
    slug: str


class _Identified(GitHubModel):
    id: int


class GitHub:
    """One App on one GitHub server. Bound to one event loop; `client` is `http.open_client` of the same `api_url`."""

    def __init__(
        self,
        *,
        app_id: str,
        key_pem: str,
        api_url: str,
        client: AsyncClient,
        write_spacing_s: float,
        clock: Clock | None = None,
    ) -> None:
        """Raises ConfigError for an empty app id or an unreadable key; sends no request yet."""
        self._spacing_s = write_spacing_s
        self._transport = GitHubTransport(client, api_url.rstrip("/"), ServerClock(clock or Clock()))
        self._jwt = AppJwt(app_id, key_pem, self._transport.server)
        self._tokens = Tokens(self._mint, self._transport.server)
        self._rate_limiters: dict[int, RateLimiter] = {}
        self._app = Api(self._transport, self._jwt, self._rate_limiter(0), priority="free")
        self._identity: AppIdentity | None = None
        self._user_id: int | None = None
        self._locks = Locks()

    def _rate_limiter(self, installation_id: int) -> RateLimiter:
        if installation_id not in self._rate_limiters:
            self._rate_limiters[installation_id] = RateLimiter(self._transport.server, self._spacing_s)
        return self._rate_limiters[installation_id]

    def rate_budgets(self) -> dict[int, RateBudget]:
        """The budgets that GitHub last named, by installation; 0 is the App itself. Any thread may ask."""
        known = {installation: limiter.budget for installation, limiter in dict(self._rate_limiters).items()}
        return {installation: budget for installation, budget in known.items() if budget is not None}

    async def app_identity(self) -> AppIdentity:
        """The App's id and slug, asked once. Raises UserError if APP_ID and key do not fit, Transient."""
        return self._identity or await self.ask_app()

    async def ask_app(self) -> AppIdentity:
        """The App's id and slug, asked now. Raises NotFound too, if there is no App of that id."""
        app = parse_model(_OwnApp, await self._app.get("/app", {}))
        self._identity = AppIdentity(id=app.id, slug=app.slug)
        return self._identity

    async def app_setup(self) -> tuple[AppSetup, HookSetup | None, tuple[RecentDelivery, ...]]:
        """The App, its webhook and its latest deliveries, as GitHub shows them. Raises UserError, Stale, Transient."""
        app = await app_setup.read_app(self._app)
        return app, await app_setup.read_hook(self._app), await app_setup.read_deliveries(self._app)

    async def installation_of(self, owner: str, name: str) -> int:
        """The id of the App's installation on a repository; raises Stale if there is none."""
        names: dict[str, str | int] = {"owner": owner, "repo": name}
        try:
            return parse_model(_Identified, await self._app.get(_REPO + "/installation", names)).id
        except NotFound as error:
            raise user_error(make_reason("github.not_installed", repo=f"{owner}/{name}"), Stale) from error

    async def commit_author(self, repo: Repo) -> str:
        """`slug[bot] <ID+slug[bot]@users.noreply.github.com>`; never raises one of our four errors.

        If GitHub does not give the id, the address lacks it: a commit should not fail for that."""
        try:
            identity = await self.app_identity()
        except MendbotError:
            return DEFAULT_AUTHOR
        if self._user_id is None:
            try:
                user = await self._api(repo).get("/users/{login}", {"login": identity.login})
                self._user_id = parse_model(_Identified, user).id
            except MendbotError:
                return identity.author()
        return identity.author(self._user_id)

    def repository(self, repo: Repo) -> RepositoryClient:
        """A client for one repository; cheap. All clients of an installation share one rate limiter."""
        return RepositoryClient(self._api(repo), repo, self.app_identity, self._locks)

    def _api(self, repo: Repo) -> Api:
        token = RepoToken(self._tokens, repo, self._transport.server)
        return Api(self._transport, token, self._rate_limiter(repo.installation_id))

    async def git_token(self, repo: Repo, *, write: bool) -> SecretStr:
        """A token for git over HTTP: for reading from a cache, for writing a new one just before the push (T24)."""
        self._rate_limiter(repo.installation_id).check()
        return (await self._tokens.get(repo, "push" if write else "fetch")).token

    async def revoke(self, repo: Repo, token: SecretStr) -> None:
        """Revokes a token from `git_token` after its push; one that GitHub no longer knows is fine."""
        api = Api(self._transport, FixedToken(token), self._rate_limiter(repo.installation_id), priority="free")
        with suppress(NotFound, Unauthorized):
            await api.call("DELETE", "/installation/token", {})
        self._tokens.revoked(token)

    def live_secrets(self) -> tuple[str, ...]:
        """Every token and JWT that GitHub may still accept, for the redactor."""
        return self._tokens.live() + self._jwt.live()

    def deliveries(self, since: datetime) -> deliveries.DeliveryLog:
        """A reader of the App's webhook deliveries since then (an aware time), the newest first."""
        return deliveries.DeliveryLog(self._app, since)

    async def redeliver(self, delivery_id: int) -> None:
        """Asks GitHub to deliver one of them again."""
        await deliveries.redeliver(self._app, delivery_id)

    async def _mint(self, repo: Repo, request: Mapping[str, object]) -> object:
        # by the installation's own rate limiter: its limits must not slow the App
        api = Api(self._transport, self._jwt, self._rate_limiter(repo.installation_id), priority="free")
        names = {"id": repo.installation_id}
        gone = make_reason("github.uninstalled", repo=repo.full_name)
        try:
            return await api.call("POST", "/app/installations/{id}/access_tokens", names, request, repeatable=True)
        except NotFound as error:
            raise user_error(gone, Stale) from error
        except Invalid as error:
            if "does not exist or is not accessible" in str(error):
                raise user_error(gone, Stale) from error
            raise user_error(
                make_reason("github.new_permissions", error=error_reason(error), owner=repo.owner), UserError
            ) from error
        except UserError as error:
            if "suspended" in str(error):
                raise user_error(make_reason("github.suspended", owner=repo.owner), Stale) from error
            raise
