"""The specification of a run: the issues of a group on GitHub, or the task of a session in a tree on this machine.

It is stored when the run is created, and never changes."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from bot.config import Policy
from bot.model import Issue, Model, Repo, ShellOrArgv
from bot.model.reasons import Reason


class FixTarget(Model):
    """The head of a pull request that a run fixes. `tolerated` are the errors that the pull request did not cause, by
    check: flaky ones, or errors of its base. They are left alone; a check without other errors counts as passed."""

    number: int
    head_sha: str
    head_ref: str
    from_fork: bool = False
    tolerated: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class RunSpec(Model):
    """The request for one run. It works on `repo` (GitHub) or in `workspace` (an absolute path), never both."""

    repo: Repo | None = None
    workspace: str | None = None
    issues: tuple[Issue, ...] = ()
    goal: str = ""
    """The task of a session; the task of a group is in its issues."""
    files: tuple[str, ...] = ()
    """The paths that the request for the session names."""
    test_command: ShellOrArgv | None = None
    validation_commands: tuple[ShellOrArgv, ...] = ()
    key: str = ""
    reasons: tuple[Reason, ...] = ()
    """Why its issues are together."""
    suggested_branch: str = ""
    policy: Policy = Policy()
    base_branch: str = ""
    agents: tuple[str, ...]
    max_attempts: int = 3
    candidates: int | None = None
    """The changes that an attempt asks for, of which the best is taken; the repository's configuration by default."""
    baseline: bool = True
    """Whether the base is checked before the first attempt, so that its failures are known."""
    pull: FixTarget | None = None
    """The pull request to fix: its branch gets the commit or, on a fork, its thread gets the diff."""
    given: str = ""
    """The diff of a person (`/mendbot apply`): the only change that is tried."""
    given_by: str = ""
    """The login of that person."""
    agents_by_operator: bool = False
    """`agents` come from the operator's own command line, so they get what the operator's settings allow."""
    asked_by: str = ""
    """The login of the author of the command; empty for labels, whose people are stored with the run's issues."""
    attended: bool = False
    """The process that created the run works on it (`mendbot fix`), so no server takes it up."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.repo is None) == (self.workspace is None):
            raise ValueError("a run has a repository or a workspace, and not both")
        return self

    @property
    def place(self) -> str:
        """The repository or the tree that the run works on: `owner/name`, or a path."""
        return self.workspace if self.repo is None else self.repo.full_name  # type: ignore[return-value]  # one of both

    @property
    def on_github(self) -> Repo:
        """The repository of a run on GitHub; a local session has none."""
        assert self.repo is not None, "a local session has no repository on GitHub"
        return self.repo

    @property
    def threads(self) -> tuple[int, ...]:
        """The numbers of its issues or of its pull request."""
        return (self.pull.number,) if self.pull is not None else tuple(issue.number for issue in self.issues)

    @property
    def attempt_limit(self) -> int:
        """The limit of attempts: that of the request, or of the stop conditions if it is lower (REQ-RUN-002)."""
        return min(self.max_attempts, self.policy.stop.max_iterations)

    @property
    def candidate_limit(self) -> int:
        """The limit of changes that one attempt asks for; 1 for the diff of a person."""
        return 1 if self.given else self.candidates or self.policy.candidates

    @property
    def title(self) -> str:
        """The task in one line."""
        return self.issues[0].title if self.issues else (self.goal.strip().splitlines() or [""])[0]

    @property
    def task(self) -> str:
        texts = [f"#{issue.number} {issue.title}\n{issue.body}".strip() for issue in self.issues]
        return "\n\n".join([*([self.goal] if self.goal else []), *texts])
