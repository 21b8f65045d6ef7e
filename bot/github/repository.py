"""Reads and effects in one repository on GitHub, each as one call that may be repeated."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal, Unpack

from pydantic import BeforeValidator

from bot.errors import Stale, UserError
from bot.github.answers import Invalid, NotFound, parse_model
from bot.github.api import Api, names_of
from bot.github.auth import AppIdentity
from bot.github.check_runs import CheckRuns, CheckRunState, Wanted
from bot.github.locks import Locks
from bot.github.own_issues import IssueState, OwnIssues
from bot.github.pulls import Pulls
from bot.github.threads import Author, CommentKind, Content, Reply, ThreadComments, react
from bot.model import Issue, PullRequestRef, Repo
from bot.model.github_json import GitHubModel, IssueJson, LabelJson, Name
from bot.model.pulls import PullRequest
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

ROLES = ("admin", "maintain", "write", "triage", "read", "none")

_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + "/issues/{number}"


class _Repository(GitHubModel):
    id: int = 0
    default_branch: Name
    has_issues: bool = True
    archived: bool = False


class _Permission(GitHubModel):
    permission: str = "none"
    role_name: str | None = None


class _Content(GitHubModel):
    type: str
    content: str = ""
    encoding: str = ""


class _Author(GitHubModel):
    login: str = ""


class _Commit(GitHubModel):
    author: _Author | None = None


def _as_objects(labels: object) -> object:
    """The labels as objects; by GitHub's schema one may be its name alone."""
    if not isinstance(labels, list):
        return labels or ()
    return [{"name": label} if isinstance(label, str) else label for label in labels]


class _Issue(IssueJson):
    state: Literal["open", "closed"]
    labels: Annotated[tuple[LabelJson, ...], BeforeValidator(_as_objects)] = ()


class NoFile(UserError):
    """The path names something else than a file whose content GitHub sends; the message continues "the path …"."""


class RepositoryClient:
    """One repository. Every method may raise UserError (401, 403, 422), Stale (404, 410) and Transient.

    Transient is for the network, 5xx and limits, with the seconds to wait if GitHub gave them."""

    def __init__(self, api: Api, repo: Repo, identity: Callable[[], Awaitable[AppIdentity]], locks: Locks) -> None:
        """`identity` returns the App's id and login; `locks` are shared by all clients of one process."""
        self._api = api
        self._identity = identity
        self._locks = locks
        self.repo = repo

    async def permission(self, login: str) -> str:
        """One of `ROLES`; `none` for an account without access. Any error means: deny (T9)."""
        try:
            found = await self._api.get(_REPO + "/collaborators/{login}/permission", names_of(self.repo, login=login))
        except NotFound:
            return "none"
        answer = parse_model(_Permission, found)
        # a custom role has a name of its own and the permission it is based on
        return next((role for role in (answer.role_name, answer.permission) if role in ROLES), "none")

    async def default_branch(self) -> str:
        return parse_model(_Repository, await self._api.get(_REPO, names_of(self.repo))).default_branch

    async def repository_id(self) -> int:
        """The repository's id, which stays when it is renamed or transferred."""
        return parse_model(_Repository, await self._api.get(_REPO, names_of(self.repo))).id

    async def takes_issues(self) -> bool:
        """Whether issues can be opened there: they are enabled, and the repository is not archived."""
        found = parse_model(_Repository, await self._api.get(_REPO, names_of(self.repo)))
        return found.has_issues and not found.archived

    async def read_file(self, path: str, ref: str) -> bytes | None:
        """A file's content at a ref; None if there is nothing.

        Raises NoFile for a directory, a broken link, a submodule, and a file over 1 MB
        (https://docs.github.com/en/rest/repos/contents#get-repository-content)."""
        try:
            found = await self._api.get(_REPO + "/contents/{+path}{?ref}", names_of(self.repo, path=path, ref=ref))
        except NotFound:
            return None
        if isinstance(found, list):
            raise user_error(make_reason("github.no_file.directory"), NoFile)
        content = parse_model(_Content, found)
        if content.type != "file":
            raise user_error(make_reason("github.no_file.type", type=content.type), NoFile)
        if content.encoding != "base64":
            raise user_error(make_reason("github.no_file.large"), NoFile)
        return base64.b64decode(content.content)

    async def commit_author_of(self, sha: str) -> str | None:
        """The login of a commit's author; None if the address is no account's. Raises Stale for an unknown commit.

        The author wrote the address into the commit, so it proves no identity."""
        # a page of one file: the answer brings the diff along
        names = names_of(self.repo, sha=sha, per_page=1)
        try:
            found = await self._api.get(_REPO + "/commits/{sha}{?per_page}", names)
        except Invalid as error:
            raise user_error(make_reason("github.commit_gone", sha=sha[:12]), Stale) from error
        author = parse_model(_Commit, found).author
        return (author.login or None) if author else None

    async def issue(self, number: int) -> Issue:
        """The issue as it is now. A first 404 is asked again, as an event may arrive before its object can be read."""
        found = parse_model(_Issue, await self._api.get(_ISSUE, names_of(self.repo, number=number), patient=True))
        return Issue(
            number=found.number,
            title=found.title,
            body=found.body,
            labels=tuple(label.name for label in found.labels if label.name),
            author=found.author,
            state=found.state,
        )

    async def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Adds labels; those already there stay, so a repeat changes nothing."""
        if labels:
            body = {"labels": list(labels)}
            await self._api.call("POST", _ISSUE + "/labels", names_of(self.repo, number=number), body, repeatable=True)

    async def remove_label(self, number: int, label: str) -> None:
        """Removes a label; one that is absent is fine."""
        try:
            await self._api.call("DELETE", _ISSUE + "/labels/{label}", names_of(self.repo, number=number, label=label))
        except NotFound:
            return

    async def upsert_comment(self, number: int, key: str, body: str, known_id: int | None = None) -> int:
        """Makes `body` the comment `key` of that issue or pull request; see `ThreadComments.upsert`."""
        threads = await self._threads()
        async with self._locks.alone("comment", self.repo.full_name, number, key):
            return await threads.upsert(number, key, body, known_id)

    async def reply(self, number: int, reply: Reply, known_id: int | None, *, same: bool) -> int:
        """Makes `reply` the thread's last comment of that purpose; see `ThreadComments.reply`."""
        async with self._locks.alone("comment", self.repo.full_name, number, reply.key):
            return await (await self._threads()).reply(number, reply, known_id, same=same)

    async def replace_comment(self, number: int, reply: Reply, old_id: int | None) -> int:
        """Posts `reply` as a new comment and deletes the old one; see `ThreadComments.replace`."""
        async with self._locks.alone("comment", self.repo.full_name, number, reply.key):
            return await (await self._threads()).replace(number, reply, old_id)

    async def find_issue(self, key: str) -> int | None:
        """The number of the App's own issue with that key; see `OwnIssues.find`."""
        return await (await self._own_issues()).find(key)

    async def open_issue(self, key: str, title: str, body: str) -> int:
        """The number of the App's own issue with that key, opened if there is none; see `OwnIssues`."""
        async with self._locks.alone("issue", self.repo.full_name, key):
            issues = await self._own_issues()
            found = await issues.find(key)
            return await issues.open(key, title, body) if found is None else found

    async def edit_issue(self, number: int, key: str, body: str, state: IssueState | None = None) -> None:
        """Gives the App's own issue that body, and that state where one is named; see `OwnIssues.edit`."""
        async with self._locks.alone("issue", self.repo.full_name, key):
            await (await self._own_issues()).edit(number, key, body, state)

    async def pin_issue(self, number: int) -> None:
        """Pins the issue where GitHub allows it; see `OwnIssues.pin`."""
        await (await self._own_issues()).pin(number)

    async def _own_issues(self) -> OwnIssues:
        app = await self._identity()
        return OwnIssues(self._api, self.repo, Author(app.id, app.login))

    async def _threads(self) -> ThreadComments:
        app = await self._identity()
        return ThreadComments(self._api, self.repo, Author(app.id, app.login))

    async def react(self, kind: CommentKind, comment_id: int, content: Content) -> None:
        """Adds our reaction to that comment, before any write in the queue; see `threads.react`."""
        await react(self._api, self.repo, kind, comment_id, content)

    async def upsert_check_run(self, **wanted: Unpack[CheckRunState]) -> int:
        """Brings the check run (sha, name, external_id) to that state; see `CheckRuns.upsert`."""
        state = Wanted(**wanted)
        app = await self._identity()
        async with self._locks.alone("check", self.repo.full_name, state.sha, state.name, state.external_id):
            return await CheckRuns(self._api, self.repo, app.id).upsert(state)

    async def ensure_pull(self, *, head: str, base: str, title: str, body: str, draft: bool = False) -> PullRequestRef:
        """The pull request of branch `head`, opened if there is none; see `Pulls.ensure`."""
        async with self._locks.alone("pull", self.repo.full_name, head):
            return await Pulls(self._api, self.repo).ensure(head=head, base=base, title=title, body=body, draft=draft)

    async def pull(self, number: int) -> PullRequest:
        """The pull request as it is now; see `Pulls.get`."""
        return await Pulls(self._api, self.repo).get(number)

    async def request_review(self, number: int, login: str) -> None:
        """Requests that person's review; see `Pulls.request_review`."""
        async with self._locks.alone("review", self.repo.full_name, number):
            await Pulls(self._api, self.repo).request_review(number, login)

    async def pull_files(self, number: int) -> tuple[str, ...]:
        """The paths that a pull request changes; see `Pulls.files`."""
        return await Pulls(self._api, self.repo).files(number)

    async def newest_open_pulls(self, limit: int) -> tuple[int, ...]:
        """The numbers of the open pull requests that changed last; see `Pulls.newest_open`."""
        return await Pulls(self._api, self.repo).newest_open(limit)

    async def pulls_of(self, sha: str, *, forks: bool = True) -> tuple[int, ...]:
        """The numbers of the open pull requests with that head commit; see `Pulls.of_head`."""
        return await Pulls(self._api, self.repo).of_head(sha, forks=forks)
