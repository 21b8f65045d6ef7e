"""Where a story is played in which people talk with the bot: what they do is done here, and what comes of it is told
and waited for. A promise that is not kept ends the story."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from demo.bot_process import BotProcess
from demo.narrator import Feed, Narrator, Story
from demo.standin.server import StandIn
from demo.standin.views import CheckRunView, CommentView, PullView

PATIENCE_S = 60.0
"""For one promise; the slowest takes a few seconds on an idle machine."""
_TICK_S = 0.2


class Broken(Exception):
    """A promise was not kept, so that what should follow cannot."""


class Stage:
    """`repo` is the story's repository, `missing` what was promised and did not come, a sentence each."""

    def __init__(
        self, github: StandIn, repo: str, bot: BotProcess, story: Story, narrator: Narrator, stopped: Callable[[], bool]
    ) -> None:
        self.world = github.world
        self.bot = bot
        self.repo = repo
        self.story = story
        self.missing: list[str] = []
        self._feed = Feed(github.world, repo, story)
        self._narrator = narrator
        self._stopped = stopped

    def until(self, what: str, kept: Callable[[], bool], *, unless: Callable[[], bool] = bool) -> None:
        """Tell what happens until `kept`. Raises Broken where it is not, be it that `unless` is or that time is up;
        KeyboardInterrupt where somebody asked to stop."""
        deadline = time.monotonic() + PATIENCE_S
        while not self._comes_to(kept):
            if self._stopped():
                raise KeyboardInterrupt
            if not self.bot.alive:
                self.missing.append("the bot, which has stopped")
            elif time.monotonic() < deadline and not unless():
                continue
            self.missing.append(what)
            raise Broken(what)

    def _comes_to(self, kept: Callable[[], bool]) -> bool:
        def ready() -> bool:
            found = kept()
            self._feed.tell_news()  # after the look, so that the next step is never told before what it waited for
            return found

        came = False
        with contextlib.suppress(TimeoutError):
            came = self.world.wait_for(ready, _TICK_S)
        self._narrator.tell_news()
        return came

    def promise(self, what: str, kept: bool) -> None:
        """Note what is missing if it is not there now."""
        if not kept:
            self.missing.append(what)

    def comment(self, number: int, body: str, by: str) -> int:
        """Somebody writes below an issue or a pull request; what the bot makes of it is timed. The comment's id."""
        first, *more = body.splitlines()
        self.story.say(f"  {by} on #{number}: {first}{' …' if more else ''}")
        began = time.monotonic()
        made = self.world.comment(self.repo, number, body, by)
        self._feed.watch(number, made, began)
        return made

    def follow(self, number: int) -> None:
        """Tell of the comments that this thread gets."""
        self._feed.threads.add(number)

    @property
    def threads(self) -> set[int]:
        return set(self._feed.threads)

    def reactions(self, number: int, comment: int) -> set[str]:
        found = next(one for one in self.world.comments(self.repo, number) if one.id == comment)
        return {content for content, _ in found.reactions}

    def answer(self, number: int, purpose: str) -> CommentView | None:
        """The bot's latest comment of that purpose in a thread."""
        mark = f"<!-- mendbot:{purpose} -->"
        return next((one for one in reversed(self.world.comments(self.repo, number)) if mark in one.body), None)

    def says(self, number: int, purpose: str, *words: str) -> bool:
        found = self.answer(number, purpose)
        return found is not None and all(word in found.body for word in words)

    def pull(self, number: int) -> PullView:
        return next(pull for pull in self.world.pulls(self.repo) if pull.number == number)

    def checks(self, sha: str) -> dict[str, CheckRunView]:
        """The newest check run of each name at a commit; names without the bot's own."""
        return {run.name.removeprefix("mendbot / "): run for run in self.world.check_runs(self.repo, sha)}

    def conclusions(self, sha: str, **wanted: tuple[str, ...]) -> bool:
        """Whether each of these check runs has one of these conclusions."""
        found = self.checks(sha)
        return all(name in found and found[name].conclusion in any_of for name, any_of in wanted.items())
