"""The payloads of webhooks, with the fields that some rule reads."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BeforeValidator, Field

from bot.model import Repo
from bot.model.github_json import (
    CheckRunJson,
    CheckSuiteJson,
    CommentJson,
    GitHubModel,
    InstallationJson,
    IssueJson,
    LabelJson,
    Name,
    Prose,
    PullRequestJson,
    RepositoryJson,
    SenderJson,
    Sha,
    ThreadJson,
)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


Item = TypeVar("Item")
Listed = Annotated[tuple[Item, ...], BeforeValidator(lambda items: () if items is None else items)]
"""A missing list is an empty one."""

Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]


class RepositoryPayload(GitHubModel):
    repository: RepositoryJson


class QueuePayload(RepositoryPayload):
    """The fields of every event of a repository; an event of a merge queue may lack the sender, as GitHub itself
    sends it."""

    installation: InstallationJson | None = None
    sender: SenderJson | None = None

    @property
    def sent(self) -> tuple[Repo, str, bool]:
        """The fields of `types.Sent`."""
        owner, _, name = self.repository.full_name.partition("/")
        repo = Repo(owner=owner, name=name, installation_id=self.installation.id if self.installation else 0)
        return repo, self.sender.login if self.sender else "", self.sender is None or self.sender.type == "Bot"


class Payload(QueuePayload):
    sender: SenderJson


class NamedLabel(LabelJson):
    name: Name


class IssuePayload(Payload):
    issue: IssueJson
    label: NamedLabel | None = None


class IssueThreadPayload(Payload):
    issue: ThreadJson


class PullThreadPayload(Payload):
    pull_request: ThreadJson


class PreviousText(GitHubModel):
    previous: Prose = Field("", alias="from")


class Changes(GitHubModel):
    body: PreviousText | None = None


class EditPayload(GitHubModel):
    """The previous text of an edit; None where the text did not change."""

    changes: Changes | None = None

    @property
    def previous(self) -> str | None:
        return self.changes.body.previous if self.changes and self.changes.body else None


class IssueEditPayload(IssuePayload, EditPayload):
    pass


class IssueCommentPayload(IssueThreadPayload, EditPayload):
    comment: CommentJson


class ReviewCommentPayload(PullThreadPayload, EditPayload):
    comment: CommentJson


class ReviewPayload(PullThreadPayload, EditPayload):
    review: CommentJson


class PullPayload(Payload):
    pull_request: PullRequestJson


class CheckRunPayload(Payload):
    check_run: CheckRunJson


class RequestedAction(GitHubModel):
    identifier: Name


class ActionPayload(CheckRunPayload):
    requested_action: RequestedAction


class CheckSuitePayload(Payload):
    check_suite: CheckSuiteJson


class GroupHead(GitHubModel):
    head_sha: Sha


class GroupDestroyedPayload(QueuePayload):
    merge_group: GroupHead
    reason: Name | None = None


class MergeGroupJson(GroupHead):
    """The refs are complete (`refs/heads/…`), and are branches."""

    head_ref: Name
    base_sha: Sha
    base_ref: Name


class GroupRequestedPayload(QueuePayload):
    merge_group: MergeGroupJson


class CommitJson(GitHubModel):
    added: Texts = ()
    modified: Texts = ()
    removed: Texts = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return (*self.added, *self.modified, *self.removed)


class PushPayload(Payload):
    ref: Name
    after: Sha
    commits: Listed[CommitJson] = ()


class InstallationPayload(GitHubModel):
    """Both `installation` and `installation_repositories`; `names` is None where it is about all repositories."""

    installation: InstallationJson

    @property
    def names(self) -> tuple[str, ...] | None:
        return None


class InstallationCreatedPayload(InstallationPayload):
    repositories: Listed[RepositoryJson] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.full_name for one in self.repositories)


class RepositoriesAddedPayload(InstallationCreatedPayload):
    repositories: Listed[RepositoryJson] = Field((), alias="repositories_added")


class RepositoriesRemovedPayload(InstallationCreatedPayload):
    repositories: Listed[RepositoryJson] = Field((), alias="repositories_removed")
