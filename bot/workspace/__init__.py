"""Touches this machine: git, worktrees, checks and the box they run in.
Nothing here decides what should happen; `rules` does, and `workflows` asks for it."""
