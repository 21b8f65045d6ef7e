"""*Locations in tool output*: golden logs of real tools, read over and over, for speed and for what is found in them.
The reference is what many tools do with one regular expression, `path:line:column`, over the same lines."""

# `from __future__ import annotations` would take the name of the function that is measured
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.result import Result, Row
from bot.rules.failures.annotations import find_annotations
from bot.rules.failures.log import read_log
from bot.rules.failures.log_lines import plain

_LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
_TREE = "/home/runner/code/app"
_ALL = 10**9
_ONE_PATTERN = re.compile(r"(?P<path>[^\s:()\[\]\"',]+):(?P<line>\d+):\d+")
_PASSING = "src/module_{0}/test_part.py ........................ [ {1}%]\nok   {0} - does what it is told ({1} ms)\n"

_Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Size:
    """So many rounds over all logs. `passing` lines of a green run stand between each two lines of the mixed log."""

    rounds: int = 9
    passing: int = 4


def measure(size: Size) -> Result:
    """Recall, precision and lines a second (of processor time); reads `fixtures/logs` of a clone."""
    logs = list(_golden())
    texts = [text for text, _ in logs]
    mixed = [_mixed(text, size.passing) for text in texts]
    speeds: dict[str, list[float]] = {"golden": [], "mixed": [], "reference": []}
    for _ in range(size.rounds):
        speeds["golden"].append(_speed(_ours, texts))
        speeds["mixed"].append(_speed(_ours, mixed))
        speeds["reference"].append(_speed(_reference, texts))
    recall, precision = _quality(_ours, logs)
    their_recall, their_precision = _quality(_reference, logs)
    lines = sum(text.count("\n") for text in texts)
    rows = (
        Row("recall", 100 * recall, "%", "at least", 95.0),
        Row("precision", 100 * precision, "%", "at least", 95.0),
        Row("logs in which every fifth line is of a failure", median(speeds["mixed"]), "lines/s", "at least", 250_000),
        Row("the golden logs alone", median(speeds["golden"]), "lines/s"),
        Row("`path:line:column`: recall", 100 * their_recall, "%"),
        Row("`path:line:column`: precision", 100 * their_precision, "%"),
        Row("`path:line:column`: the golden logs alone", median(speeds["reference"]), "lines/s"),
    )
    notes = (
        f"{len(logs)} logs of {len({file.parent for file in _LOGS.glob('*/*.log')})} tools, {lines:,} lines, "
        f"{sum(len(places) for _, places in logs):,} places; how they were made: fixtures/logs/README.md.",
        "The matchers were improved on this very set, so that other tools' logs may show less.",
        "Lines a second are of processor time, without a limit on annotations; a check run stops at 200.",
    )
    return Result("locations in tool output", size.rounds, rows, notes)


def _golden() -> Iterator[tuple[str, set[_Place]]]:
    for log in sorted(_LOGS.glob("*/*.log")):
        rows = (row.split("\t") for row in log.with_suffix(".tsv").read_text("utf-8").split("\n") if row)
        yield log.read_bytes().decode("utf-8"), {(path, int(line)) for path, line, *_ in rows}


def _mixed(text: str, passing: int) -> str:
    """The log as a part of a longer one: failures come in blocks, so the passing lines stand before it."""
    lines = text.count("\n") * passing
    return "".join(_PASSING.format(number, number % 100) for number in range(lines // 2)) + text


def _ours(text: str) -> set[_Place]:
    return {(note.path, note.start_line) for note in find_annotations(read_log(text, _TREE), "test", _ALL)}


def _reference(text: str) -> set[_Place]:
    found = (_ONE_PATTERN.search(line) for line in plain(text).split("\n"))
    return {
        (match["path"].removeprefix(_TREE + "/").removeprefix("./"), int(match["line"])) for match in found if match
    }


def _speed(read: Callable[[str], object], texts: list[str]) -> float:
    began = time.process_time()
    for text in texts:
        read(text)
    return sum(text.count("\n") for text in texts) / (time.process_time() - began)


def _quality(read: Callable[[str], set[_Place]], logs: list[tuple[str, set[_Place]]]) -> tuple[float, float]:
    """(recall, precision) over all places of all logs."""
    pairs = [(read(text), places) for text, places in logs]
    hits = sum(len(found & places) for found, places in pairs)
    return hits / sum(len(places) for _, places in pairs), hits / max(1, sum(len(found) for found, _ in pairs))
