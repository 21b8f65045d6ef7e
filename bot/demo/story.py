"""The demo's voice: what happens, a line at a time, read from the bot's own record and from the stand-in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bot.demo.standin.views import CheckRunView, IssueView, PullView
from bot.model import RunEvent
from bot.store.database import Database
from bot.store.runs import Runs

_MARKS = {"success": "✓", "failure": "✗", "skipped": "-", "neutral": "-"}
_LAST_LINE = 80
"""Characters of a check's last line of output, where most tools sum up."""


class Story:
    """Prints lines that stay plain when the output is no terminal."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True)

    def say(self, text: str, style: str = "") -> None:
        self._console.print(text, style=style or None, markup=False)

    def step(self, text: str) -> None:
        self.say(f"\n{text}", "bold")


def sentence(event: RunEvent) -> str | None:
    """An event as a line of the story; None for those that would only repeat another."""
    data = event.data
    match event.type:
        case "phase_started" if event.phase == "planning":
            return f"worktree on branch {data['branch']}, in the box: {data['sandbox']}"
        case "setup_started":
            return f"set-up, the only step with network: {data['command']}"
        case "setup_completed":
            return f"set-up done in {data['durationMs'] / 1000:.1f} s"
        case "setup_failed":
            return f"set-up failed: {data['details']}"
        case "attempt_started":
            return f"attempt {event.iteration} of {data['of']}"
        case "agent_started":
            return f"  asks the agent `{data['agent']}`"
        case "changes_applied":
            return f"  {data['agent']} changed {', '.join(data['paths'])}"
        case "phase_failed" if event.phase == "implementation":
            return f"  no change taken: {data['message']}"
        case "validation_command_completed" | "validation_command_failed":
            return _check(event)
        case "phase_completed" if event.phase == "packaging":
            return f"pushed {data['commit'][:10]} and opened pull request #{data['pull']['number']}"
        case "session_finished":
            stop = data.get("stop")
            return f"finished: {data['status']}" + (f" ({stop['reason']}: {stop['details']})" if stop else "")
        case _:
            return None


def _check(event: RunEvent) -> str:
    step = event.data["step"]
    where = "before any change" if event.iteration == 0 else f"attempt {event.iteration}"
    if step["skipped"]:
        return f"  {step['stage']}: skipped, {step['output']}"
    mark = "✓" if step["passed"] else "✗"
    line = f"  {mark} {step['stage']} ({where}, {step['duration_ms'] / 1000:.1f} s)"
    last = next((text.strip() for text in reversed(step["output"].splitlines()) if text.strip()), "")
    said = f": {last[:_LAST_LINE]}" if last else ""
    return f"{line}{said}" if step["passed"] else f"{line}: classified `{event.classification}`{said}"


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
            line = sentence(event)
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
