"""Reads pull requests, and opens them for the bot's branches.

`ensure` looks for a branch's pull request before it opens one, so that repeated calls open only one."""

from __future__ import annotations

from dataclasses import dataclass

from bot.errors import UserError
from bot.github.answers import Invalid, NotFound, parse_model
from bot.github.api import Api, names_of
from bot.github.threads import checked_body
from bot.http import Unclear
from bot.logs import get_logger
from bot.model import PullRequestRef, Repo
from bot.model.github_json import AccountJson, GitHubModel, RestPullRequestJson
from bot.model.pulls import PullRequest
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

log = get_logger()

MAX_TITLE_CHARACTERS = 256
MAX_FILES = 3000
"""GitHub lists at most this many files of a pull request ("List pull requests files")."""
MAX_LISTED = 1000
"""The maximum number of open pull requests, last changed first, that are searched for a commit."""

_PULLS = "/repos/{owner}/{repo}/pulls"
_PULL = _PULLS + "/{number}"
_OF_COMMIT = "/repos/{owner}/{repo}/commits/{sha}/pulls{?per_page}"
_REVIEWERS = _PULL + "/requested_reviewers"
_RETRY_READ_S = 1.0
_NO_DRAFTS = "draft pull requests are not supported"


class NoDrafts(UserError):
    """The repository's plan has no draft pull requests."""


class _Requested(GitHubModel):
    users: tuple[AccountJson, ...] = ()


class _File(GitHubModel):
    filename: str
    previous_filename: str | None = None


@dataclass(frozen=True, slots=True)
class Pulls:
    """The pull requests of one repository; those that it opens are between branches of that repository."""

    api: Api
    repo: Repo

    async def get(self, number: int) -> PullRequest:
        """Returns the current state of the pull request.

        The first 404 is retried, as an event may arrive before the object is readable. `merge_commit_sha` is GitHub's
        test merge until the pull request is merged."""
        pull = await self.api.get(_PULL, names_of(self.repo, number=number), patient=True)
        return _pull_request(parse_model(RestPullRequestJson, pull))

    async def files(self, number: int) -> tuple[str, ...]:
        """Returns the paths that the pull request adds, changes, removes or renames; a rename counts under both names.

        GitHub lists only the first 3,000 files."""
        paths: dict[str, None] = {}
        file_count = 0
        async for item in self.api.pages(_PULL + "/files{?per_page}", names_of(self.repo, number=number, per_page=100)):
            file = parse_model(_File, item)
            paths |= dict.fromkeys(path for path in (file.filename, file.previous_filename) if path)
            file_count += 1
            if file_count == MAX_FILES:
                break
        return tuple(paths)

    async def of_head(self, sha: str, *, forks: bool = True) -> tuple[int, ...]:
        """Returns the numbers of the open pull requests whose head is that commit, sorted; empty if there are none.

        GitHub links a commit only with pull requests from branches of the same repository. If it names none and `forks`
        is true, the 1,000 open pull requests that changed last are searched."""
        try:
            numbers = await self._heads(sha, _OF_COMMIT, names_of(self.repo, sha=sha, per_page=100))
        except NotFound:
            numbers = ()
        except Invalid as error:
            if "no commit found" not in str(error).lower():
                raise
            numbers = ()
        if numbers or not forks:
            return numbers
        order = names_of(self.repo, state="open", sort="updated", direction="desc", per_page=100)
        return await self._heads(sha, _PULLS + "{?state,sort,direction,per_page}", order)

    async def newest_open(self, limit: int) -> tuple[int, ...]:
        """Returns the numbers of the open pull requests that changed last, at most `limit` (up to 100)."""
        order = names_of(self.repo, state="open", sort="updated", direction="desc", per_page=limit)
        items, _ = await self.api.page(_PULLS + "{?state,sort,direction,per_page}", order)
        return tuple(pull.number for item in items if (pull := _parse_listed(item)) is not None)[:limit]

    async def _heads(self, sha: str, path: str, names: dict[str, str | int]) -> tuple[int, ...]:
        numbers: set[int] = set()
        pull_count = 0
        async for item in self.api.pages(path, names):
            pull = _parse_listed(item)
            if pull is not None and pull.state == "open" and pull.head.sha == sha:
                numbers.add(pull.number)
            pull_count += 1
            if pull_count == MAX_LISTED:
                break
        return tuple(sorted(numbers))

    async def ensure(self, *, head: str, base: str, title: str, body: str, draft: bool = False) -> PullRequestRef:
        """Returns the pull request from branch `head` into `base`: the open one, else the last closed one, else a new
        one.

        A closed one is not replaced, as it was closed for a reason. Raises Invalid (a UserError) if there are no
        commits between the branches. Raises NoDrafts if `draft` is true and the repository has no drafts."""
        if len(title) > MAX_TITLE_CHARACTERS:
            raise ValueError(f"the title has {len(title)} characters, {MAX_TITLE_CHARACTERS} are allowed")
        request = {"title": title, "head": head, "base": base, "body": checked_body(body), "draft": draft}
        existing = await self._find(head, base)
        if existing is not None:
            return existing
        try:
            response = await self.api.call("POST", _PULLS, names_of(self.repo), request)
            return _ref(parse_model(RestPullRequestJson, response))
        except Unclear:
            await self.api.sleep(_RETRY_READ_S)
            existing = await self._find(head, base)
        except Invalid as error:
            # another call opened it in the meantime
            existing = await self._find(head, base) if "already exists" in str(error) else None
            if existing is None and draft and _NO_DRAFTS in str(error).lower():
                raise user_error(make_reason("github.no_drafts", repo=self.repo.full_name), NoDrafts) from error
            if existing is None:
                raise
        if existing is None:
            raise user_error(make_reason("github.pull_unclear", branch=head), Unclear)
        return existing

    async def request_review(self, number: int, login: str) -> None:
        """Requests a review from that person, unless it is already requested.

        Raises Invalid (a UserError) if GitHub refuses: the person opened the pull request or is no collaborator."""
        requested = parse_model(_Requested, await self.api.get(_REVIEWERS, names_of(self.repo, number=number)))
        if login.casefold() not in (user.login.casefold() for user in requested.users):
            body = {"reviewers": [login]}
            await self.api.call("POST", _REVIEWERS, names_of(self.repo, number=number), body, repeatable=True)

    async def _find(self, head: str, base: str) -> PullRequestRef | None:
        names = names_of(self.repo, head=f"{self.repo.owner}:{head}", state="all", per_page=100)
        pulls = [
            pull
            async for item in self.api.pages(_PULLS + "{?head,state,per_page}", names)
            # GitHub ignores a `head` that it cannot parse, and lists all pull requests
            if (pull := _parse_listed(item)) is not None and pull.head.ref == head and pull.base.ref == base
        ]
        match = max(pulls, key=lambda pull: (pull.state == "open", pull.number), default=None)
        return _ref(match) if match is not None else None


def _parse_listed(item: object) -> RestPullRequestJson | None:
    """An item of a list; None, with a log line, for one of another shape, which is no reason to fail the look-up of
    another."""
    try:
        return parse_model(RestPullRequestJson, item)
    except Unclear as error:
        number = item.get("number") if isinstance(item, dict) else None
        log.warning("odd_pull_request", number=number, because=str(error)[:200])
        return None


def _ref(pull: RestPullRequestJson) -> PullRequestRef:
    return PullRequestRef(number=pull.number, url=pull.html_url, head_sha=pull.head.sha, draft=pull.draft)


def _pull_request(pull: RestPullRequestJson) -> PullRequest:
    return PullRequest(
        number=pull.number,
        title=pull.title,
        body=pull.body,
        author=pull.author,
        state=pull.state,
        merged=pull.merged or pull.merged_at is not None,
        merge_commit_sha=pull.merge_commit_sha,
        draft=pull.draft,
        head_sha=pull.head.sha,
        head_ref=pull.head.ref,
        head_repo=pull.head.repo.full_name if pull.head.repo else None,
        base_ref=pull.base.ref,
        base_sha=pull.base.sha,
        labels=tuple(label.name for label in pull.labels if label.name),
        updated_at=pull.updated_at,
    )
