"""The names under which the rest of the program uses the Markdown reports; each comes from the file of its noun."""

from __future__ import annotations

from bot.reports.comment import issue_comment
from bot.reports.prose import escape
from bot.reports.pull import commit_message, pull_body, pull_title

__all__ = ["commit_message", "escape", "issue_comment", "pull_body", "pull_title"]
