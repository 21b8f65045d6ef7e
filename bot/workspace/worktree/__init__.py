"""Worktrees and detached checkouts, and how they are made, kept and removed."""

from bot.workspace.worktree.worktree_command import manage_worktree

__all__ = ["manage_worktree"]
