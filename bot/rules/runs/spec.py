"""What a run was asked to do: the issues of a group on GitHub, or the task of a session in a tree on this machine.

It is written once, when the run is made, and never changes."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from bot.config import Policy
from bot.model import Issue, Model, Repo, ShellOrArgv
from bot.model.reasons import Reason


class FixTarget(Model):
    """The head of a pull request that a run fixes. `tolerated` are the errors that are not its own, by check: flaky, or
    there on its base already. They are left alone, and a check that shows nothing else counts as passed (spec H)."""

    number: int
    head_sha: str
    head_ref: str
    from_fork: bool = False
    tolerated: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class RunSpec(Model):
    """One run's order. It works on `repo` (GitHub) or in `workspace` (an absolute path), never both."""

    repo: Repo | None = None
    workspace: str | None = None
    issues: tuple[Issue, ...] = ()
    goal: str = ""
    """A session's task; a group's is what its issues say."""
    files: tuple[str, ...] = ()
    """Paths that whoever asked for the session named."""
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
    baseline: bool = True
    """Check the base before the first attempt, so that what was already so is known."""
    pull: FixTarget | None = None
    """What is fixed is a pull request: its branch gets the commit or, on a fork, its thread the diff."""
    given: str = ""
    """A diff that somebody gave (`/mendbot apply`): the only change that is tried."""
    given_by: str = ""
    """Their login."""
    agents_by_operator: bool = False
    """`agents` were given on the operator's own command line, so what the operator lends is lent to them."""
    asked_by: str = ""
    """The login of whoever asked for it by a command; empty for labels, whose people stand with the run's issues."""
    attended: bool = False
    """Worked on by the process that made it (`mendbot fix`), so no server takes it up."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.repo is None) == (self.workspace is None):
            raise ValueError("a run has a repository or a workspace, and not both")
        return self

    @property
    def place(self) -> str:
        """Where it works: `owner/name`, or the path of the tree."""
        return self.workspace if self.repo is None else self.repo.full_name  # type: ignore[return-value]  # one of both

    @property
    def on_github(self) -> Repo:
        """The repository of a run on GitHub; asking a local session for it is a bug."""
        assert self.repo is not None, "a local session has no repository on GitHub"
        return self.repo

    @property
    def threads(self) -> tuple[int, ...]:
        """The numbers of the threads that it works for; issues and pull requests share one sequence."""
        return (self.pull.number,) if self.pull is not None else tuple(issue.number for issue in self.issues)

    @property
    def most_attempts(self) -> int:
        """The attempts there may be: what was asked for, capped by the stop conditions (REQ-RUN-002)."""
        return min(self.max_attempts, self.policy.stop.max_iterations)

    @property
    def title(self) -> str:
        """The task in one line."""
        return self.issues[0].title if self.issues else (self.goal.strip().splitlines() or [""])[0]

    @property
    def task(self) -> str:
        texts = [f"#{issue.number} {issue.title}\n{issue.body}".strip() for issue in self.issues]
        return "\n\n".join([*([self.goal] if self.goal else []), *texts])
