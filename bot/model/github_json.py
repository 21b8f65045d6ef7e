"""GitHub's JSON, as webhooks and the REST API send it: one model for each object, with the fields that are read.
Names that reach file systems, databases or the API are checked here (threats.md 1)."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, StrictStr

_FULL_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}/(?!\.{1,2}\Z)[A-Za-z0-9_.-]{1,100}")
_LOGIN = re.compile(r"[A-Za-z0-9_-]{1,100}(\[bot\])?")
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def _storable(text: object) -> object:
    if isinstance(text, str) and _UNSTORABLE.search(text):
        raise ValueError("contains a NUL or a broken character")
    return text


def _prose(text: object) -> object:
    if text is None:
        return ""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text) if isinstance(text, str) else text


def _moment(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None


def _login(text: str) -> str:
    if not _LOGIN.fullmatch(text):
        raise ValueError("is not an account's name")
    return text


def _sha(text: str) -> str:
    if not _SHA.fullmatch(text):
        raise ValueError("is not a commit's full id")
    return text


def _full_name(text: str) -> str:
    if not _FULL_NAME.fullmatch(text):
        raise ValueError("is not of the form owner/name")
    return text


Id = Annotated[StrictInt, Field(gt=0, lt=2**63)]
Name = Annotated[StrictStr, Field(min_length=1), BeforeValidator(_storable)]
"""A text without NUL and lone surrogates, which neither a database nor the API can take."""

Prose = Annotated[StrictStr, BeforeValidator(_prose)]
"""Text that a person wrote: null is empty, and characters that cannot be stored become U+FFFD."""

Login = Annotated[Name, AfterValidator(_login)]
"""An account's name in GitHub's alphabet; it becomes part of the URL that reads the account's permission."""

Sha = Annotated[Name, AfterValidator(_sha)]
FullName = Annotated[Name, AfterValidator(_full_name)]
"""`owner/name` in GitHub's alphabet; it becomes part of paths."""

Moment = Annotated[datetime | None, BeforeValidator(_moment)]
"""An ISO 8601 time with its zone; None where it is missing, so that nothing can be ordered by it."""

Flag = Annotated[StrictBool, BeforeValidator(lambda flag: False if flag is None else flag)]


class GitHubModel(BaseModel):
    """An object of GitHub's; fields that are not read may be anything."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class AccountJson(GitHubModel):
    login: Name
    type: Name | None = None


class SenderJson(GitHubModel):
    login: Login
    type: Name | None = None


class InstallationJson(GitHubModel):
    id: Id


class RepositoryJson(GitHubModel):
    full_name: FullName
    default_branch: Name | None = None


class AppJson(GitHubModel):
    id: Id


class LabelJson(GitHubModel):
    name: Name | None = None


Labels = Annotated[tuple[LabelJson, ...], BeforeValidator(lambda labels: labels or ())]


class ThreadJson(GitHubModel):
    """The fields that issues and pull requests share; an issue that is a pull request has `pull_request`."""

    number: Id
    user: AccountJson | None = None
    pull_request: object = None

    @property
    def author(self) -> str:
        return self.user.login if self.user else ""


class IssueJson(ThreadJson):
    title: Prose = ""
    body: Prose = ""
    labels: Labels = ()
    state: Name | None = None
    updated_at: Moment = None


class CommentJson(GitHubModel):
    """A comment, or the text of a review."""

    id: Id
    user: AccountJson | None = None
    body: Prose = ""
    created_at: Moment = None
    updated_at: Moment = None
    submitted_at: Moment = None


class HeadJson(GitHubModel):
    sha: Sha
    repo: RepositoryJson | None = None


class BaseJson(GitHubModel):
    ref: Name


class PullRequestJson(ThreadJson):
    """`head.repo` is None where the fork is gone."""

    head: HeadJson
    base: BaseJson
    draft: Flag = False
    updated_at: Moment = None


class BranchJson(HeadJson, BaseJson):
    """A branch of a pull request and its commit."""


class RestPullRequestJson(PullRequestJson):
    """A pull request as the REST API returns it; a list does not say whether one was `merged`."""

    head: BranchJson
    base: BranchJson
    html_url: Name
    state: Literal["open", "closed"]
    title: Prose = ""
    body: Prose = ""
    labels: Labels = ()
    merged: Flag = False
    merged_at: Moment = None
    merge_commit_sha: Sha | None = None


class CheckRunJson(GitHubModel):
    id: Id
    name: Name
    head_sha: Sha
    external_id: Prose = ""


class CheckSuiteJson(GitHubModel):
    head_sha: Sha
    head_branch: Name | None = None
