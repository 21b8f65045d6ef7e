"""The arguments of each tool. Their JSON Schemas, with these descriptions, are what an agent reads."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_Text = Annotated[str, Field(min_length=1, max_length=1_000_000)]
_Path = Annotated[str, Field(min_length=1, max_length=30_000)]
_MAX_ISSUES = 10_000


class Arguments(BaseModel):
    """The arguments of a tool: JSON types are not converted, and an unknown name is an error."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ManageWorktree(Arguments):
    action: Literal["create", "cleanup", "list"]
    issues: tuple[int, ...] | None = Field(None, description="issue numbers; needed for create and cleanup")
    branch_name: str | None = Field(None, description="a branch instead of fix/issue-1-2; matches ^[a-z0-9/-]+$")
    repo: _Path | None = Field(None, description="the repository; the server's working directory by default")
    base: _Path | None = Field(None, description="where worktrees go; `worktrees` beside the repository by default")


class RunChecks(Arguments):
    worktree_path: str = Field(description="absolute path of the working tree")
    checks: tuple[Literal["test", "typecheck", "lint"], ...] = Field(description="at least one; each runs once")
    fail_fast: bool = Field(True, description="stop at the first failure")
    max_attempts: int = Field(3, description="1 to 3 runs of a failed check; one that passes later is flaky")


class GroupIssues(Arguments):
    issues: tuple[dict[str, Any], ...] = Field(
        max_length=_MAX_ISSUES, description="issues in the form of GitHub's REST API: number, title, body, labels"
    )
    group_by: Literal["component", "file", "label", "similarity"]
    max_group_size: int = Field(5, description="larger groups are split")


class ErrorHistory(Arguments):
    file: _Path | None = Field(None, description="a file name, in any directory; give this or `error`")
    error: _Text | None = Field(None, description="the error, as a check or a tool printed it")


class RecordResolution(Arguments):
    error: _Text = Field(description="the error, as a check or a tool printed it")
    how: Annotated[_Text, Field(pattern=r"\S")] = Field(description="what made it go away, in your words")
    files: tuple[_Path, ...] = Field((), max_length=100, description="files that it is about")
    commit: Annotated[str, Field(pattern=r"^[0-9A-Fa-f]{4,64}$")] | None = Field(
        None, description="the commit that resolved it"
    )
    tools: tuple[str, ...] = Field((), max_length=100, description="steps on the way in order, such as Read, Edit")
    by: str = Field("", description="who resolved it")
    repo: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$")] | None = Field(
        None, description="OWNER/NAME; only runs of that repository see it"
    )
