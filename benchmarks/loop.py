"""*Loop overhead*: what an attempt costs beside its agent and its checks, and how soon a label is answered.
A real run on the stand-in, with an agent that answers at once and checks that do almost nothing: the rest is ours."""

from __future__ import annotations

import asyncio
import difflib
import json
import secrets
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.result import Result, Row, percentile
from benchmarks.servers import bot
from bot import proc
from bot.model.events.phases import ValidationCompleted
from bot.model.events.run_event import RunEvent
from bot.model.events.runs import AttemptStarted, CheckEnded
from bot.store.database.database import Database
from bot.store.runs.runs import Runs
from demo.standin.server import StandIn

REPO, ACTOR, LABEL = "octo/loop", "ada", "auto-fix"
CHECKS = {"typecheck": "true", "lint": "true", "test": "grep -q 2 value.py"}
"""The test fails before the change, so that the run may claim a fix."""
QUIET_S = 1.0
_PATIENCE_S = 120.0
_LOOK_S = 0.01
_POLICY = "checks:\n" + "".join(f"  {name}: {{ command: '{run}' }}\n" for name, run in CHECKS.items())
_BEFORE, _AFTER = "value = 1\n", "value = 2\n"


@dataclass(frozen=True, slots=True)
class Size:
    """Runs, one after another; each is a round."""

    rounds: int = 8


@dataclass(frozen=True, slots=True)
class _Round:
    attempt_ms: float
    bare_ms: float
    checks_ms: float
    comment_s: float
    pull_s: float


def measure(size: Size) -> Result:
    """Label one issue a round and wait until its run is over and told of; the same commands run bare in between."""
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        root = Path(where)
        answer = _answer(root)
        with StandIn(root / "github", webhook_url=None, webhook_secret=secrets.token_hex(32)) as github:
            _prepare(github)
            env = {
                "MENDBOT_AGENTS": "command",
                "MENDBOT_AGENT_COMMAND": json.dumps(["cat", str(answer)]),
                "MENDBOT_AGENT_BINDS": str(answer.parent),
                "MENDBOT_QUIET_SECONDS": str(QUIET_S),
                "MENDBOT_WRITE_SPACING_SECONDS": "0.05",
            }
            with bot(github, root / "home", **env) as server:
                github.world.set_webhook_url(f"http://127.0.0.1:{server.port}/api/github/webhooks")
                database = Database(f"sqlite:///{root / 'home' / 'mendbot.db'}")
                try:
                    rounds = [_round(github, Runs(database), root, answer) for _ in range(size.rounds)]
                finally:
                    database.close()
    return _result(size, rounds)


def _answer(root: Path) -> Path:
    lines = difflib.unified_diff([_BEFORE], [_AFTER], "a/value.py", "b/value.py")
    folder = root / "answer"
    folder.mkdir()
    answer = folder / "answer.json"
    answer.write_text(json.dumps({"changes": [{"path": "value.py", "patch": "".join(lines)}]}), encoding="utf-8")
    return answer


def _prepare(github: StandIn) -> None:
    github.world.create_user(ACTOR, "Ada")
    github.world.create_repo(REPO, {"value.py": _BEFORE.encode(), ".github/mendbot.yml": _POLICY.encode()})
    github.world.set_permission(REPO, ACTOR, "write")


def _round(github: StandIn, runs: Runs, root: Path, answer: Path) -> _Round:
    world = github.world
    number = world.create_issue(REPO, "The value is wrong", "It should be 2.", author=ACTOR)
    bare_ms = asyncio.run(_bare(root, answer))
    pulls = len(world.pulls(REPO))
    labelled = time.monotonic()
    world.add_label(REPO, number, LABEL, ACTOR)
    comment_s = _until("a comment", lambda: bool(world.issue(REPO, number).comments)) - labelled - QUIET_S
    pull_s = _until("a pull request", lambda: len(world.pulls(REPO)) > pulls) - labelled - QUIET_S
    _until("the label auto-fix-done", lambda: "auto-fix-done" in world.issue(REPO, number).labels)
    events = asyncio.run(_events(runs, number))
    return _Round(_attempt_ms(events), bare_ms, _checks_ms(events), comment_s, pull_s)


async def _bare(root: Path, answer: Path) -> float:
    """Milliseconds of the same commands without a box, a worktree, a record or a loop."""
    (root / "value.py").write_text(_AFTER)
    began = time.perf_counter()
    for argv in (("cat", str(answer)), *(("sh", "-c", run) for run in CHECKS.values())):
        await proc.run(argv, cwd=root, env={"PATH": "/usr/bin:/bin"}, timeout_s=30)
    return (time.perf_counter() - began) * 1000


def _until(what: str, happened: Callable[[], bool]) -> float:
    """When it was seen to have happened; raises RuntimeError where it does not."""
    limit = time.monotonic() + _PATIENCE_S
    while not happened():
        if time.monotonic() > limit:
            raise RuntimeError(f"{what} did not come within {_PATIENCE_S:.0f} s")
        time.sleep(_LOOK_S)
    return time.monotonic()


async def _events(runs: Runs, number: int) -> tuple[RunEvent, ...]:
    for row in await runs.all():
        if number in {issue.number for issue in row.spec.issues}:
            return await runs.events(row.id)
    raise RuntimeError(f"issue {number} has no run")


def _attempt_ms(events: tuple[RunEvent, ...]) -> float:
    started = next(event.ts for event in events if isinstance(event, AttemptStarted))
    ended = next(event.ts for event in events if isinstance(event, ValidationCompleted))
    return (ended - started).total_seconds() * 1000


def _checks_ms(events: tuple[RunEvent, ...]) -> float:
    done = (event for event in events if isinstance(event, CheckEnded) and event.iteration == 1 and event.step.passed)
    return float(sum(event.step.duration_ms for event in done))


def _result(size: Size, rounds: list[_Round]) -> Result:
    overheads = [one.attempt_ms - one.bare_ms for one in rounds]
    comments = [one.comment_s for one in rounds]
    rows = (
        Row("an attempt minus the same agent and checks run bare", median(overheads), "ms", "at most", 150.0),
        Row("label → comment visible, minus the quiet period", median(comments), "s", "at most", 0.5),
        Row("an attempt minus bare, the slowest", max(overheads), "ms"),
        Row("label → comment visible, minus the quiet period, the slowest", max(comments), "s"),
        Row("label → pull request visible, minus the quiet period", median(one.pull_s for one in rounds), "s"),
        Row("an attempt, agent and checks included", median(one.attempt_ms for one in rounds), "ms"),
        Row("of it in the checks as recorded, box included", median(one.checks_ms for one in rounds), "ms"),
        Row("the agent and the checks, bare", median(one.bare_ms for one in rounds), "ms"),
        Row("the agent and the checks, bare, p90", percentile([one.bare_ms for one in rounds], 0.9), "ms"),
    )
    notes = (
        "The agent: `cat` of a prepared answer; the checks: `true` twice and `grep`. Sandboxes count as overhead.",
        "Reporting runs beside the loop; between writes to GitHub 0.05 s here, 1 s by default.",
    )
    return Result("loop overhead", size.rounds, rows, notes)
