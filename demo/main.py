"""`make demo`: the main job end to end on this machine alone. A GitHub stand-in, the real bot as a process of its own,
signed webhooks, git over HTTP, real checks; it exits 0 only if everything it promises is there."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from demo.bot_process import BotProcess, bot_environment, free_port
from demo.driver import Broken, Stage
from demo.narrator import Narrator, Story, print_outcome
from demo.scenarios.commands import commands_scenario
from demo.scenarios.issues import Answer, Scenario, issues_scenario, published_scenario
from demo.scenarios.pulls import pull_request_scenario
from demo.standin.server import StandIn
from demo.standin.views import CheckRunView, IssueView, PullView

SCENARIOS: Mapping[str, Callable[[], Scenario]] = {
    "issues": issues_scenario,
    "published": published_scenario,
    "pull-request": pull_request_scenario,
    "commands": commands_scenario,
}
AGENTS = Path(__file__).parent / "agents"
SILENCE_S = 180.0
"""Nothing happens for so long only where something is broken: a set-up may take a minute or two on a slow network."""
MAINTAINER = "ada"
_TICK_S = 0.2
_CHECKS = ("fix", "typecheck", "lint", "test")


def run_demo(name: str, *, keep: bool) -> int:
    """Tell one scenario's story; 0 if it ended as promised, else 1. Ctrl-C ends what `keep` keeps, with 0."""
    story = Story()
    try:
        with _ended_like_ctrl_c():
            if name == "published":
                story.step("The project's source comes from the package registry")
            scenario = SCENARIOS[name]()
        with _told_to_stop() as stop:
            return 1 if play(scenario, story, stop, keep=keep) else 0
    except KeyboardInterrupt:
        story.say("\nstopped before the end", "red")
        return 1


def play(scenario: Scenario, story: Story, stop: Stop, *, keep: bool = False) -> list[str]:
    """Tell the story, and where `keep` says so stay until asked to stop; what is missing in the end, a sentence each.

    Nothing is left of it: no process and no file. Raises KeyboardInterrupt where that came before the end."""
    with tempfile.TemporaryDirectory(prefix="mendbot-demo-") as where:
        root = Path(where)
        with StandIn(root / "github", webhook_url=None, webhook_secret=secrets.token_hex(32)) as github:
            home, port = root / "home", free_port()
            _prepare(github, scenario, port)
            env = _environment(github, scenario, home, port)
            story.step(f"A GitHub stand-in is at {github.url}; the bot starts on port {port}")
            if os.geteuid() == 0:
                story.say("  (as root, so MENDBOT_ALLOW_ROOT=1: the box's process limits do not bind root)")
            story.say(f"  {scenario.said}")
            with BotProcess(env, root / "bot.log") as bot:
                act = _act if scenario.act is None else _play_act
                missing = act(github, scenario, bot, home, story, stop)
                if missing:
                    story.say(bot.said())
                elif keep:
                    _keep(github, scenario, bot, story, stop)
    return missing


@contextlib.contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """A closed terminal and `kill` clean up as Ctrl-C does; that works in the main thread alone (Python's `signal`)."""
    numbers = (signal.SIGTERM, signal.SIGHUP) if threading.current_thread() is threading.main_thread() else ()
    # as SIGINT itself, for asyncio handles that one in its own way, without tearing a step apart
    before = {number: signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Stop:
    """Whether somebody asked to stop. A pipe, for a signal handler may write to one whatever it has interrupted, while
    the lock in a `threading.Event` may be held by the very thread that runs the handler."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self.asked = False

    def ask(self) -> None:
        self.asked = True
        os.write(self._write, b".")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait that long, or until asked; whether it was asked."""
        select.select([self._read], [], [], seconds)
        return self.asked

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)


@contextlib.contextmanager
def _told_to_stop() -> Iterator[Stop]:
    """Asked by Ctrl-C, `kill` and a closed terminal, and looked at between two steps: an exception out of nowhere would
    leave half made what is being made at that moment, an event loop among others. A second signal raises at once."""
    stop = Stop()

    def note(*_: object) -> None:
        if stop.asked:
            raise KeyboardInterrupt
        stop.ask()

    on_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if on_main else ()
    before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        stop.close()


def _prepare(github: StandIn, scenario: Scenario, port: int) -> None:
    world = github.world
    world.set_webhook_url(f"http://127.0.0.1:{port}/api/github/webhooks")
    world.create_user(MAINTAINER, "Ada")
    world.create_repo(scenario.repo, scenario.files)
    world.set_permission(scenario.repo, MAINTAINER, "write")


def _environment(github: StandIn, scenario: Scenario, home: Path, port: int) -> dict[str, str]:
    answers = home.parent / "answers"
    answers.mkdir()
    for number, answer in enumerate(scenario.answers, start=1):
        _write_answer(answers / f"{number}.json", *answer)
    for issue, own in scenario.by_issue.items():
        (answers / str(issue)).mkdir()
        _write_answer(answers / str(issue) / "1.json", own.fix)
        if own.test is not None:
            _write_answer(answers / str(issue) / "test.json", own.test)
    return bot_environment(
        github,
        home,
        port,
        MENDBOT_PUBLIC_URL=f"http://127.0.0.1:{port}",
        MENDBOT_AGENTS="fixers,command",
        MENDBOT_AGENT_COMMAND=json.dumps(["python3", str(AGENTS / "scripted.py"), str(answers)]),
        MENDBOT_AGENT_BINDS=os.pathsep.join([str(AGENTS), str(answers)]),
        **{"MENDBOT_QUIET_SECONDS": "1.5", "MENDBOT_WRITE_SPACING_SECONDS": "0.05", **scenario.variables},
    )


def _write_answer(path: Path, *answer: Answer) -> None:
    changes = [{"path": item.path, "patch": item.patch} for item in answer]
    path.write_text(json.dumps({"changes": changes}), encoding="utf-8")


def _act(github: StandIn, scenario: Scenario, bot: BotProcess, home: Path, story: Story, stop: Stop) -> list[str]:
    """File and label the issues, follow what the bot does; what is missing in the end."""
    world, began = github.world, time.monotonic()
    numbers = []
    story.step(f"{MAINTAINER} files the issues of {scenario.repo} and labels them `auto-fix`")
    for filed in scenario.issues:
        number = world.create_issue(scenario.repo, filed.title, filed.body, author=MAINTAINER, labels=filed.labels)
        story.say(f"  #{number} {filed.title}")
        numbers.append(number)
    for number in numbers:
        world.add_label(scenario.repo, number, "auto-fix", MAINTAINER)
    story.step("The bot waits for a quiet moment, groups them, and goes to work")
    narrator, told_at = Narrator(home, story), began
    try:
        while True:
            if narrator.tell_news():
                told_at = time.monotonic()
            missing = what_is_missing(github, scenario, numbers)
            if not missing or _ended_badly(github, scenario, numbers):
                break
            if not bot.alive or time.monotonic() - told_at > SILENCE_S:
                missing.append("the bot, which has stopped" if not bot.alive else f"news for {SILENCE_S:.0f} s")
                break
            if stop.wait(_TICK_S):
                raise KeyboardInterrupt
        narrator.tell_news()
    finally:
        narrator.close()
    print_outcome(story, *_seen(github, scenario, numbers))
    return _ending(story, missing, began)


def _play_act(github: StandIn, scenario: Scenario, bot: BotProcess, home: Path, story: Story, stop: Stop) -> list[str]:
    """Let people talk with the bot as the scenario has it; what is missing in the end."""
    assert scenario.act is not None
    began, narrator = time.monotonic(), Narrator(home, story)
    stage = Stage(github, scenario.repo, bot, story, narrator, lambda: stop.asked)
    try:
        with contextlib.suppress(Broken):
            scenario.act(stage)
    finally:
        narrator.close()
    world, repo = github.world, scenario.repo
    pulls = world.pulls(repo)
    issues = [world.issue(repo, number) for number in sorted(stage.threads - {pull.number for pull in pulls})]
    print_outcome(story, issues, pulls, world.check_runs(repo))
    return _ending(story, stage.missing, began)


def _ending(story: Story, missing: list[str], began: float) -> list[str]:
    for item in missing:
        story.say(f"  missing: {item}", "red")
    if not missing:
        story.step(f"Done in {time.monotonic() - began:.1f} s: everything that was promised is there.")
    return missing


def _seen(
    github: StandIn, scenario: Scenario, numbers: list[int]
) -> tuple[tuple[IssueView, ...], tuple[PullView, ...], tuple[CheckRunView, ...]]:
    world = github.world
    issues = tuple(world.issue(scenario.repo, number) for number in numbers)
    return issues, world.pulls(scenario.repo), world.check_runs(scenario.repo)


def _ended_badly(github: StandIn, scenario: Scenario, numbers: list[int]) -> bool:
    ended = [{"auto-fix-failed", "auto-fix-done"} & set(github.world.issue(scenario.repo, n).labels) for n in numbers]
    return all(ended) and any("auto-fix-failed" in labels for labels in ended)


def what_is_missing(github: StandIn, scenario: Scenario, numbers: list[int]) -> list[str]:
    """What the story promises and GitHub does not show (yet), a sentence each."""
    issues, pulls, checks = _seen(github, scenario, numbers)
    missing = []
    closed_by = {pull.closes: pull for pull in pulls}
    for group in scenario.expected:
        pull = closed_by.get(group)
        if pull is None:
            missing.append(f"a pull request that closes {', '.join(f'#{number}' for number in group)}")
            continue
        of_head = {check.name: check.conclusion for check in checks if check.head_sha == pull.head_sha}
        for check in _CHECKS:
            if of_head.get(f"mendbot / {check}") not in ("success", "skipped"):
                missing.append(f"a green check run `mendbot / {check}` on pull request #{pull.number}")
    missing += _missing_drafts(scenario, pulls)
    for issue in issues:
        if issue.number in scenario.drafts:
            if {"auto-fix-done", "auto-fix-processing"} & set(issue.labels):
                missing.append(f"no status label on #{issue.number}, which nothing shows to be solved")
            continue
        if "auto-fix-done" not in issue.labels or "auto-fix-processing" in issue.labels:
            missing.append(f"the label auto-fix-done on #{issue.number}")
        if len(issue.comments) != 1 or "/pull/" not in issue.comments[0].body:
            missing.append(f"one comment on #{issue.number} that links the pull request")
    promised = len(scenario.expected) + len(scenario.drafts)
    if len(pulls) > promised:
        missing.append(f"{promised} pull requests, not {len(pulls)}")
    return missing


def _missing_drafts(scenario: Scenario, pulls: tuple[PullView, ...]) -> list[str]:
    """The unproven changes that are no drafts with `Refs` and the label `needs-proof` (yet), a sentence each."""
    return [
        f"a draft for #{number} with the label needs-proof"
        for number in scenario.drafts
        if not any(
            pull.draft and f"Refs #{number} " in pull.body and "needs-proof" in pull.labels and not pull.closes
            for pull in pulls
        )
    ]


def _keep(github: StandIn, scenario: Scenario, bot: BotProcess, story: Story, stop: Stop) -> None:
    story.step("Still running; look at these, and press Ctrl-C to end")
    story.say(f"  {github.url}/{scenario.repo}")
    story.say(f"  {bot.pages()}")
    story.say(f"  {bot.look('/api/deliveries')}")
    sys.stdout.flush()
    stop.wait()
    story.say("")
