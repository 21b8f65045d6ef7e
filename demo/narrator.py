"""The demo's voice: what happens, a line at a time, read from the bot's own record and from the stand-in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from bot.model import RunEvent
from bot.reports.locale.reasons import english
from bot.reports.runs.event_lines import event_line
from bot.store.database.database import Database
from bot.store.runs.runs import Runs
from demo.standin.views import CheckRunView, CommentView, IssueView, PullView
from demo.standin.world import World

_MARKS = {"success": "✓", "failure": "✗", "skipped": "-", "neutral": "-", "action_required": "!", "cancelled": "-"}
_FACES = {"eyes": "👀", "rocket": "🚀", "confused": "😕"}


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
            name = " ".join(f"#{number}" for number in row.spec.threads)
            if row.id not in self._told:
                reasons = f" ({'; '.join(map(english, row.spec.reasons))})" if row.spec.reasons else ""
                what = "a run on its head" if row.spec.pull is not None else f"one group, key `{row.spec.key}`"
                self._story.say(f"  {name}: {what}{reasons}, run {row.id}")
                self._told[row.id] = 0
            for event in await self._runs.events(row.id, self._told[row.id]):
                fresh.append((event.id, name, event))
                self._told[row.id] = event.id
        for _, name, event in sorted(fresh, key=lambda item: item[0]):
            line = event_line(event)
            if line is not None:
                self._story.say(f"  {name}: {line}")
        return bool(fresh)


class Feed:
    """Follows what people see on GitHub: check runs, the bot's comments, its reactions; tells each change."""

    def __init__(self, world: World, repo: str, story: Story) -> None:
        self.threads: set[int] = set()
        self._world = world
        self._repo = repo
        self._story = story
        self._checks: dict[int, tuple[str, str]] = {}
        self._comments: dict[int, str] = {}
        self._watched: dict[int, tuple[int, float]] = {}
        self._reactions: set[tuple[int, str]] = set()

    def watch(self, number: int, comment: int, began: float) -> None:
        """Time the reactions to this comment, made at `began` of the monotonic clock."""
        self.threads.add(number)
        self._watched[comment] = (number, began)

    def tell_news(self) -> None:
        """Say what has changed since the last call."""
        for number in sorted(self.threads):
            for comment in self._world.comments(self._repo, number):
                self._reacted(comment)
                if comment.author.endswith("[bot]"):
                    self._commented(number, comment)
        for run in self._world.check_runs(self._repo):
            self._checked(run)

    def _reacted(self, comment: CommentView) -> None:
        if comment.id not in self._watched:
            return
        number, began = self._watched[comment.id]
        for content, _ in comment.reactions:
            if (comment.id, content) not in self._reactions:
                self._reactions.add((comment.id, content))
                after = (time.monotonic() - began) * 1000
                self._story.say(f"    {_FACES.get(content, content)} after {after:.0f} ms (#{number})")

    def _commented(self, number: int, comment: CommentView) -> None:
        first = _first_line(comment)
        if self._comments.get(comment.id) != first:
            how = "edits its comment" if comment.id in self._comments else "comments"
            self._comments[comment.id] = first
            self._story.say(f"  #{number}: {comment.author} {how}: {first}")

    def _checked(self, run: CheckRunView) -> None:
        state = run.conclusion or run.status
        if self._checks.get(run.id) != (state, run.title):
            self._checks[run.id] = (state, run.title)
            mark = _MARKS.get(state, "·")
            told = "" if state == run.title else f" — {run.title}"
            self._story.say(f"  {mark} {run.name} at {run.head_sha[:7]}: {state.replace('_', ' ')}{told}")


def print_outcome(
    story: Story, issues: Sequence[IssueView], pulls: Sequence[PullView], checks: Sequence[CheckRunView]
) -> None:
    """Each pull request's address, each check run and each comment on a line of its own (contract, `make demo`)."""
    story.step("What stands on GitHub now")
    for pull in pulls:
        closes = ", ".join(f"#{number}" for number in pull.closes)
        story.say(f"  pull request {pull.url} — {pull.title}" + (f" (closes {closes})" if closes else ""))
        for line in _check_lines(checks, pull.head_sha):
            story.say(f"    {line}")
        _print_comments(story, pull.comments)
    for sha in dict.fromkeys(check.head_sha for check in checks):
        if sha not in {pull.head_sha for pull in pulls}:
            story.say(f"  commit {sha[:7]}, which is no head any more")
            for line in _check_lines(checks, sha):
                story.say(f"    {line}")
    for issue in issues:
        _print_comments(story, issue.comments)
        story.say(f"  labels of #{issue.number}: {', '.join(sorted(issue.labels))}")


def _check_lines(checks: Sequence[CheckRunView], sha: str) -> Iterator[str]:
    """The newest check run of each name at that commit; only it counts on GitHub."""
    for check in {check.name: check for check in checks if check.head_sha == sha}.values():
        state = check.conclusion or check.status
        yield f"{_MARKS.get(state, '?')} check run {check.name}: {state} — {check.title}"


def _print_comments(story: Story, comments: Sequence[CommentView]) -> None:
    for comment in comments:
        faces = "".join(f" {_FACES.get(content, content)}" for content, _ in comment.reactions)
        story.say(f"  comment {comment.url} by {comment.author}: {_first_line(comment)}{faces}")


def _first_line(comment: CommentView) -> str:
    return next((line for line in comment.body.splitlines() if line.strip() and not line.startswith("<!--")), "")
