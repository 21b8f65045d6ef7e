"""The demo's voice: what happens, a line at a time, read from the bot's own record and from the stand-in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bot.demo.standin.views import CheckRunView, IssueView, PullView
from bot.model import RunEvent
from bot.reports.course import event_line
from bot.store.database import Database
from bot.store.runs import Runs

_MARKS = {"success": "✓", "failure": "✗", "skipped": "-", "neutral": "-"}


class Story:
    """Prints lines that stay plain when the output is no terminal."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True)

    def say(self, text: str, style: str = "") -> None:
        self._console.print(text, style=style or None, markup=False)

    def step(self, text: str) -> None:
        self.say(f"\n{text}", "bold")


class Narrator:
    """Follows the runs of a home's database and tells what is new, in the order in which it happened."""

    def __init__(self, home: Path, story: Story) -> None:
        self._database = Database(f"sqlite:///{home / 'mendbot.db'}")
        self._runs = Runs(self._database)
        self._story = story
        self._told: dict[str, int] = {}
        self._loop = asyncio.Runner()

    def close(self) -> None:
        self._loop.close()
        self._database.close()

    def tell_news(self) -> bool:
        """Say what has happened since the last call; whether anything has."""
        return self._loop.run(self._tell())

    async def _tell(self) -> bool:
        fresh: list[tuple[int, str, RunEvent]] = []
        for row in await self._runs.all():
            name = " ".join(f"#{issue.number}" for issue in row.spec.issues)
            if row.id not in self._told:
                reasons = f" ({'; '.join(row.spec.reasons)})" if row.spec.reasons else ""
                self._story.say(f"  {name}: one group, key `{row.spec.key}`{reasons}, run {row.id}")
                self._told[row.id] = 0
            for event in await self._runs.events(row.id, self._told[row.id]):
                fresh.append((event.id, name, event))
                self._told[row.id] = event.id
        for _, name, event in sorted(fresh, key=lambda item: item[0]):
            line = event_line(event)
            if line is not None:
                self._story.say(f"  {name}: {line}")
        return bool(fresh)


def print_outcome(
    story: Story, issues: Sequence[IssueView], pulls: Sequence[PullView], checks: Sequence[CheckRunView]
) -> None:
    """Each pull request's address, each check run and each comment on a line of its own (contract, `make demo`)."""
    story.step("What stands on GitHub now")
    for pull in pulls:
        closes = ", ".join(f"#{number}" for number in pull.closes)
        story.say(f"  pull request {pull.url} — {pull.title} (closes {closes})")
        for check in checks:
            if check.head_sha == pull.head_sha:
                mark = _MARKS.get(check.conclusion or "", "?")
                story.say(f"    {mark} check run {check.name}: {check.conclusion} — {check.title}")
    for issue in issues:
        for comment in issue.comments:
            first = next(
                (line for line in comment.body.splitlines() if line.strip() and not line.startswith("<!--")), ""
            )
            story.say(f"  comment {comment.url} by {comment.author}: {first}")
        story.say(f"  labels of #{issue.number}: {', '.join(sorted(issue.labels))}")
