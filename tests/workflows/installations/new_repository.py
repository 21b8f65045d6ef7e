"""A repository on which the App is installed while the bot is at work."""

from __future__ import annotations

from bot.model import Repo
from tests.workflows.pull_bot import FILES, RunningBot

NEW = "octo/new"
PACKAGE = '{"scripts": {"test": "node test.js"}}'


def create(bot: RunningBot, files: dict[str, str] | None = None) -> Repo:
    """Make the repository, with the App installed and `ada` as a person with write access."""
    bot.world.create_repo(NEW, {**FILES, "package.json": PACKAGE, **(files or {})})
    bot.world.set_permission(NEW, "ada", "write")
    return Repo(owner="octo", name="new", installation_id=bot.world.installation_id(NEW))


def titles(bot: RunningBot) -> list[str]:
    """The titles of all issues there, open or closed."""
    return [issue.title for issue in bot.world.issues(NEW)]


def open_pull(bot: RunningBot, branch: str) -> tuple[int, str]:
    """A pull request there; its number and head."""
    sha = bot.push({"notes.txt": f"{branch}\n"}, to=branch, repo=NEW)
    return bot.world.open_pull(NEW, branch, f"Change {branch}", "", "ada"), sha
