"""Repositories on GitHub, and the worktrees of issues."""

from __future__ import annotations

from bot.model.base import Model


class Repo(Model):
    """One repository on GitHub, as an installation of the App sees it."""

    owner: str
    name: str
    installation_id: int

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"


class WorktreeInfo(Model):
    """A worktree, its branch and the issues that it is for."""

    path: str
    branch: str
    issues: tuple[int, ...] = ()


class ManageWorktreeResult(Model):
    """The result of `manage_worktree` (spec B)."""

    action: str
    success: bool
    worktree_path: str | None = None
    branch: str = ""
    error: str | None = None
    worktrees: tuple[WorktreeInfo, ...] | None = None
