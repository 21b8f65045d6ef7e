"""The App's own issues in a repository, found again by marker and author, so that none is opened twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.errors import MendbotError
from bot.github.answers import parse_model
from bot.github.api import Api, names_of
from bot.github.threads import Author, checked_body, marked, marker
from bot.http import Unclear
from bot.logs import get_logger
from bot.model import Repo
from bot.model.github_json import AccountJson, AppJson, GitHubModel, Prose

_ISSUES = "/repos/{owner}/{repo}/issues"
_ISSUE = _ISSUES + "/{number}"
_PIN = "mutation($issue: ID!) { pinIssue(input: {issueId: $issue}) { clientMutationId } }"
_RETRY_READ_S = 1.0


IssueState = Literal["open", "closed"]
log = get_logger()


class _Node(GitHubModel):
    node_id: str


class _OwnIssue(GitHubModel):
    number: int
    body: Prose = ""
    user: AccountJson | None = None
    performed_via_github_app: AppJson | None = None

    def by(self, author: Author) -> bool:
        if self.performed_via_github_app is not None:
            return self.performed_via_github_app.id == author.app_id
        return self.user is not None and self.user.login == author.login


@dataclass(frozen=True, slots=True)
class OwnIssues:
    """The issues of one repository that one App opened."""

    api: Api
    repo: Repo
    author: Author

    async def find(self, key: str) -> int | None:
        """The number of the App's issue with that key, open or closed; None if there is none.

        Another author's issue with the marker is ignored (T37)."""
        names = names_of(self.repo, state="all", creator=self.author.login, per_page=100)
        mark = marker(key)
        async for item in self.api.pages(_ISSUES + "{?state,creator,per_page}", names):
            issue = parse_model(_OwnIssue, item)
            if marked(issue.body, mark) and issue.by(self.author):
                return issue.number
        return None

    async def edit(self, number: int, key: str, body: str, state: IssueState | None = None) -> None:
        """Gives the issue that body, after its marker, and that state where one is named."""
        changes = {"body": checked_body(f"{marker(key)}\n{body}"), **({"state": state} if state else {})}
        await self.api.call("PATCH", _ISSUE, names_of(self.repo, number=number), changes, repeatable=True)

    async def pin(self, number: int) -> None:
        """Pins the issue. Where GitHub refuses, as it does for a fourth pinned issue, or does not answer, it stays
        unpinned: never raises MendbotError."""
        try:
            issue = parse_model(_Node, await self.api.get(_ISSUE, names_of(self.repo, number=number)))
            errors = await self.api.graphql_errors(_PIN, {"issue": issue.node_id})
        except MendbotError as error:
            errors = str(error)
        if errors:
            log.info("issue_not_pinned", repo=self.repo.full_name, number=number, because=errors)

    async def open(self, key: str, title: str, body: str) -> int:
        """Opens the issue and returns its number; `find` comes before. After a lost response it looks for the issue
        before it raises Transient. The marker is put before the body."""
        text = {"title": title, "body": checked_body(f"{marker(key)}\n{body}")}
        try:
            opened = await self.api.call("POST", _ISSUES, names_of(self.repo), text)
        except Unclear:
            await self.api.sleep(_RETRY_READ_S)
            found = await self.find(key)
            if found is None:
                raise
            return found
        return parse_model(_OwnIssue, opened).number
