"""*Look-up of errors*: of errors that are like a known one, how many each step finds, and how many of those are really
the same, over real messages whose ground truth no rule of ours made. Drain3 is the reference for the last step."""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.error_messages import (
    DRAIN3,
    Corpus,
    Message,
    checker_messages,
    failing_test_messages,
    golden_messages,
    python_of,
)
from benchmarks.result import Result, Row
from bot.model import Resolution
from bot.rules.failures.normalize import normalize_error
from bot.store.database.database import Database
from bot.store.history.history import History

TUNED = frozenset({"pylint", "pyflakes"})
"""The checkers that thresholds were chosen on."""
MEASURED = frozenset({"mypy", "pycodestyle"})
"""The other checkers. Of the recorded logs, those of other tools are halved in turn."""
_STEPS = ("same", "similar", "template")
_DRAIN3 = """
import json, logging, sys
from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig
earlier, later = json.load(sys.stdin)
miner = TemplateMiner(config=TemplateMinerConfig())
known = [miner.add_log_message(text)["cluster_id"] for text in earlier]
found = [miner.match(text) for text in later]
print(json.dumps([known, [one.cluster_id if one else None for one in found]]))
"""


@dataclass(slots=True)
class Figures:
    """Errors whose like is known, what each step found, and what of that was another error."""

    known: int = 0
    unknown: int = 0
    found: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)

    def add(self, step: str, right: bool) -> None:
        self.found[step] += 1
        self.wrong[step] += not right


def measure() -> Result:
    """Both halves, which take a minute, and the packages the first time."""
    golden = [one for one in golden_messages() if one.tool not in TUNED | MEASURED]
    own = [*checker_messages(), *(one for one in golden_messages() if one.tool in TUNED | MEASURED)]
    tuned = [*golden[::2], *(one for one in own if one.tool in TUNED)]
    measured = [*golden[1::2], *(one for one in own if one.tool in MEASURED)]
    rows, notes = [], []
    halves = (
        ("tuned half", tuned, None),
        ("measured half", measured, 95.0),
        ("failing tests", list(failing_test_messages()), 95.0),
    )
    for half, corpora, goal in halves:
        figures = look_up(corpora)
        rows += _rows(half, figures, goal)
        tools = ", ".join(sorted({corpus.tool for corpus in corpora}))
        notes.append(f"{half}: {figures.known} errors whose like is known, {figures.unknown} others; {tools}.")
    notes.append("found: of the errors whose like is known; the rest of what a step finds is wrong.")
    notes.append("drain3 0.9.11 with its defaults, of lines as they were printed, in place of all three steps.")
    return Result("look-up of errors", 1, tuple(rows), tuple(notes))


def look_up(corpora: Iterable[Corpus], *, reference: bool = True) -> Figures:
    """Each corpus in a history of its own, looked up as a run does, and by drain3 as the reference."""
    figures = Figures()
    for corpus in corpora:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(_in_history(corpus, Path(folder), figures))
        if reference:
            _by_drain3(corpus, figures)
    return figures


async def _in_history(corpus: Corpus, folder: Path, figures: Figures) -> None:
    database = Database(f"sqlite:///{folder / 'mendbot.db'}")
    database.migrate()
    history = History(database)
    earlier, later = _distinct(corpus.earlier), _distinct(corpus.later)
    for message in earlier:
        await history.record(message.text, Resolution(how=message.truth, repo="octo/x"))
    truths = {message.truth for message in earlier}
    for message in later:
        if message.truth in truths:
            figures.known += 1
        else:
            figures.unknown += 1
        known = await history.by_error(message.text, repo="octo/x")
        if known is not None:
            figures.add(known.match, known.resolution.how == message.truth)
    database.close()


def _distinct(messages: Iterable[Message]) -> tuple[Message, ...]:
    """One message for each error."""
    return tuple({normalize_error(message.text): message for message in reversed(tuple(messages))}.values())[::-1]


def _by_drain3(corpus: Corpus, figures: Figures) -> None:
    """Count for each later message whether the latest earlier one of its cluster is the same error."""
    earlier, later = _distinct(corpus.earlier), _distinct(corpus.later)
    texts = json.dumps([[message.text for message in side] for side in (earlier, later)])
    argv = [str(python_of("drain3", (DRAIN3,))), "-c", _DRAIN3]
    done = subprocess.run(argv, input=texts, capture_output=True, text=True, check=True)
    clusters, found = json.loads(done.stdout)
    latest = dict(zip(clusters, (message.truth for message in earlier), strict=True))
    for message, cluster in zip(later, found, strict=True):
        if cluster in latest:
            figures.add("drain3", latest[cluster] == message.truth)


def _rows(half: str, figures: Figures, goal: float | None) -> list[Row]:
    rows, so_far = [], 0
    for step in (*_STEPS, "drain3"):
        found, wrong = figures.found[step], figures.wrong[step]
        so_far = found - wrong if step == "drain3" else so_far + found - wrong
        own = None if step == "drain3" else goal
        rows.append(Row(f"{half}, {step}: right", 100 * (found - wrong) / max(1, found), "%", "at least", own))
        upto = "found" if step == "drain3" else "found up to this step"
        rows.append(Row(f"{half}, {step}: {upto}", 100 * so_far / max(1, figures.known), "%"))
    return rows
