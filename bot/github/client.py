"""GitHub as the rest of Mendbot sees it: one `GitHub` per process, one `RepositoryClient` per repository.
Reads come back as our nouns; effects are keyed and may be asked for any number of times."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from weakref import WeakValueDictionary

from pydantic import SecretStr

from bot.errors import MendbotError, Stale, UserError
from bot.github import deliveries
from bot.github.answers import Form, Invalid, Missing, Unauthorized, read
from bot.github.api import Api, Door
from bot.github.auth import AppJwt, FixedToken, RepoToken, Tokens
from bot.github.check_runs import CheckRuns, Wanted
from bot.github.clock import Clock, ServerClock
from bot.github.pace import Pace
from bot.github.pulls import Pulls
from bot.github.threads import Author, Threads
from bot.http import AsyncClient
from bot.model import CheckOutput, Issue, PullRequest, Repo

ROLES = ("admin", "maintain", "write", "triage", "read", "none")
DEFAULT_AUTHOR = "mendbot[bot] <mendbot[bot]@users.noreply.github.com>"

_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + "/issues/{number}"


@dataclass(frozen=True, slots=True)
class AppIdentity:
    """The App as GitHub knows it."""

    id: int
    slug: str

    @property
    def login(self) -> str:
        """The App's bot account."""
        return f"{self.slug}[bot]"

    def author(self, user_id: int | None = None) -> str:
        """A git identity; with the bot account's user id GitHub links commits to it."""
        prefix = f"{user_id}+" if user_id is not None else ""
        return f"{self.login} <{prefix}{self.login}@users.noreply.github.com>"


class _App(Form):
    id: int
    slug: str


class _Installation(Form):
    id: int


class _Account(Form):
    id: int


class _User(Form):
    login: str = ""


class _Repository(Form):
    default_branch: str


class _Permission(Form):
    permission: str = "none"
    role_name: str | None = None


class _Content(Form):
    content: str = ""


class _Label(Form):
    name: str


class _Issue(Form):
    number: int
    title: str
    body: str | None = None
    state: Literal["open", "closed"]
    labels: tuple[_Label | str, ...] = ()
    user: _User | None = None


class GitHub:
    """One App on one GitHub. Bound to one event loop; `client` is `http.open_client` of the same `api_url`."""

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
        """Raises ConfigError for an empty app id or an unreadable key; asks GitHub nothing yet."""
        self._spacing_s = write_spacing_s
        self._door = Door(client, api_url.rstrip("/"), ServerClock(clock or Clock()))
        self._jwt = AppJwt(app_id, key_pem, self._door.server)
        self._tokens = Tokens(self._mint, self._door.server)
        self._paces: dict[int, Pace] = {}
        self._app = Api(self._door, self._jwt, self._pace(0), spaced=False)
        self._identity: AppIdentity | None = None
        self._user_id: int | None = None
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def _pace(self, installation_id: int) -> Pace:
        if installation_id not in self._paces:
            self._paces[installation_id] = Pace(self._door.server, self._spacing_s)
        return self._paces[installation_id]

    async def app_identity(self) -> AppIdentity:
        """The App's id and slug, asked once. Raises UserError where APP_ID and key do not fit, Transient."""
        if self._identity is None:
            app = read(_App, await self._app.get("/app", {}))
            self._identity = AppIdentity(id=app.id, slug=app.slug)
        return self._identity

    async def installation_of(self, owner: str, name: str) -> int:
        """The id of the App's installation on a repository; Stale where there is none."""
        names: dict[str, str | int] = {"owner": owner, "repo": name}
        try:
            return read(_Installation, await self._app.get(_REPO + "/installation", names)).id
        except Missing as error:
            raise Stale(f"the App is not installed on {owner}/{name}: install it there") from error

    async def commit_author(self, repo: Repo) -> str:
        """`slug[bot] <ID+slug[bot]@users.noreply.github.com>`; never raises one of our four errors.

        Where GitHub does not tell, the address is one without the id: a commit should not fail for it."""
        try:
            identity = await self.app_identity()
        except MendbotError:
            return DEFAULT_AUTHOR
        if self._user_id is None:
            try:
                found = await self._api(repo).get("/users/{login}", {"login": identity.login})
                self._user_id = read(_Account, found).id
            except MendbotError:
                return identity.author()
        return identity.author(self._user_id)

    def repository(self, repo: Repo) -> RepositoryClient:
        """A client for one repository; cheap, and every one of an installation keeps the same pace."""
        return RepositoryClient(self, self._api(repo), repo)

    def _api(self, repo: Repo) -> Api:
        server = self._door.server
        return Api(self._door, RepoToken(self._tokens, repo, server), self._pace(repo.installation_id))

    async def git_token(self, repo: Repo, *, write: bool) -> SecretStr:
        """A token for git over HTTP: reading from a cache, writing minted anew just before the push (threat T24)."""
        self._pace(repo.installation_id).check()
        return (await self._tokens.get(repo, "push" if write else "fetch")).token

    async def revoke(self, repo: Repo, token: SecretStr) -> None:
        """Ends a token from `git_token` after its push; one that is no longer known is fine."""
        api = Api(self._door, FixedToken(token), self._pace(repo.installation_id), spaced=False)
        with suppress(Missing, Unauthorized):
            await api.call("DELETE", "/installation/token", {})
        self._tokens.revoked(token)

    def live_secrets(self) -> tuple[str, ...]:
        """Every token and JWT minted that GitHub may still take, for the redactor."""
        return self._tokens.live() + self._jwt.live()

    async def failed_deliveries(self, since: datetime) -> tuple[deliveries.FailedDelivery, ...]:
        """The App's webhook deliveries since then that never succeeded, oldest first."""
        return await deliveries.failed_deliveries(self._app, since)

    async def redeliver(self, delivery_id: int) -> None:
        """Asks for one of them again."""
        await deliveries.redeliver(self._app, delivery_id)

    @asynccontextmanager
    async def alone(self, *key: str | int) -> AsyncIterator[None]:
        """One at a time for a key: two who look at once would both find nothing, and both write."""
        name = "\n".join(map(str, key))
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            yield

    async def _mint(self, repo: Repo, request: Mapping[str, object]) -> object:
        # in the installation's own pace: what limits it must not limit the App
        api = Api(self._door, self._jwt, self._pace(repo.installation_id), spaced=False)
        names = {"id": repo.installation_id}
        gone = f"the App is no longer installed on {repo.full_name}"
        try:
            return await api.call("POST", "/app/installations/{id}/access_tokens", names, request, repeatable=True)
        except Missing as error:
            raise Stale(gone) from error
        except Invalid as error:
            if "does not exist or is not accessible" in str(error):
                raise Stale(gone) from error
            raise UserError(f"{error}; accept the App's permissions for {repo.owner} on GitHub") from error
        except UserError as error:
            if "suspended" in str(error):
                raise Stale(f"the App's installation on {repo.owner} is suspended") from error
            raise


class RepositoryClient:
    """What Mendbot reads and does in one repository. Everything may raise UserError (401, 403, 422), Stale (404, 410)
    and Transient (network, 5xx, limits, with the seconds to wait where GitHub said)."""

    def __init__(self, github: GitHub, api: Api, repo: Repo) -> None:
        self._github = github
        self._api = api
        self.repo = repo

    def _names(self, **more: str | int) -> dict[str, str | int]:
        return {"owner": self.repo.owner, "repo": self.repo.name, **more}

    async def permission(self, login: str) -> str:
        """One of `ROLES`; `none` for someone GitHub does not know here. Whatever is raised means: deny (threat T9)."""
        try:
            found = await self._api.get(_REPO + "/collaborators/{login}/permission", self._names(login=login))
        except Missing:
            return "none"
        answer = read(_Permission, found)
        # a custom role has a name of its own and the permission it is based on
        return next((role for role in (answer.role_name, answer.permission) if role in ROLES), "none")

    async def default_branch(self) -> str:
        return read(_Repository, await self._api.get(_REPO, self._names())).default_branch

    async def read_file(self, path: str, ref: str) -> str | None:
        """A text file's content at a ref, None where there is none; UserError where it is no UTF-8 text."""
        try:
            found = await self._api.get(_REPO + "/contents/{+path}{?ref}", self._names(path=path, ref=ref))
        except Missing:
            return None
        content = read(_Content, found)
        try:
            return base64.b64decode(content.content).decode("utf-8")
        except ValueError as error:
            raise UserError(f"{path} at {ref} is not UTF-8 text") from error

    async def issue(self, number: int) -> Issue:
        """The issue as it is now; a first 404 is asked again, for the event may be quicker than the object."""
        found = read(_Issue, await self._api.get(_ISSUE, self._names(number=number), patient=True))
        return Issue(
            number=found.number,
            title=found.title,
            body=found.body or "",
            labels=tuple(label if isinstance(label, str) else label.name for label in found.labels),
            author=found.user.login if found.user else "",
            state=found.state,
        )

    async def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Adds labels; those already there stay, so a repeat changes nothing."""
        if labels:
            body = {"labels": list(labels)}
            await self._api.call("POST", _ISSUE + "/labels", self._names(number=number), body, repeatable=True)

    async def remove_label(self, number: int, label: str) -> None:
        """Removes a label; one that is absent is fine."""
        try:
            await self._api.call("DELETE", _ISSUE + "/labels/{label}", self._names(number=number, label=label))
        except Missing:
            return

    async def upsert_comment(self, number: int, key: str, body: str, known_id: int | None = None) -> int:
        """The comment `key` says `body`; see `Threads.upsert`."""
        app = await self._github.app_identity()
        async with self._github.alone("comment", self.repo.full_name, number, key):
            threads = Threads(self._api, self.repo, Author(app.id, app.login))
            return await threads.upsert(number, key, body, known_id)

    async def upsert_check_run(
        self, *, name: str, sha: str, external_id: str, conclusion: str | None, status: str, output: CheckOutput
    ) -> int:
        """The check run (sha, name, external_id) is in that state; see `CheckRuns.upsert`."""
        wanted = Wanted(name, sha, external_id, status, conclusion, output)
        app = await self._github.app_identity()
        async with self._github.alone("check", self.repo.full_name, sha, name, external_id):
            return await CheckRuns(self._api, self.repo, app.id).upsert(wanted)

    async def ensure_pull(self, *, head: str, base: str, title: str, body: str) -> PullRequest:
        """There is a pull request of branch `head`; see `Pulls.ensure`."""
        async with self._github.alone("pull", self.repo.full_name, head):
            return await Pulls(self._api, self.repo).ensure(head=head, base=base, title=title, body=body)
