"""Which issues are fixed together, why, and on which branch."""

from bot.rules.grouping.groups import group_issues

__all__ = ["group_issues"]
