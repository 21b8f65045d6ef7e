"""What a run was asked to do: the issues of a group on GitHub, or the task of a session in a tree on this machine.

It is written once, when the run is made, and never changes."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from bot.config import Policy
from bot.model import Issue, Noun, Repo, ShellOrArgv


class RunSpec(Noun):
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
    reasons: tuple[str, ...] = ()
    suggested_branch: str = ""
    policy: Policy = Policy()
    base_branch: str = ""
    agents: tuple[str, ...]
    max_attempts: int = 3
    baseline: bool = True
    """Check the base before the first attempt, so that what was already so is known."""
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
