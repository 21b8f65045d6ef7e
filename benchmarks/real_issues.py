"""*Text grouping, real reports*: how often the duplicate of a real bug report is among its nearest texts, and what is
joined by words. `python -m benchmarks issues DIR`, where DIR has trackers as in the data set GitBugs (CC BY 4.0,
github.com/av9ash/gitbugs): `NAME.csv` with the reports, and `NAME-combined.csv` with those known to be duplicates."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from benchmarks.grouping import TOP, Nearest, ranking, recall, reference
from benchmarks.issue_texts import Corpus
from benchmarks.result import Result, Row, as_table
from bot.model import Issue
from bot.rules.grouping import similarity

MAX_REPORTS = 5_000
"""The limit of reports a tracker, those with the lowest numbers, since the ranking compares all pairs."""

TUNED_ON = frozenset({"hadoop_bugs", "SeaMonkey_bugs"})
"""The trackers of which one half tuned the threshold; of any other all reports are unseen."""

_PAIRS = "-combined.csv"
_READ_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Part:
    """Some reports of a tracker: all (`half` None), or those of which `half_of` is 0 (tuned on) or 1."""

    label: str
    half: int | None

    @property
    def unseen(self) -> bool:
        return self.half != 0

    def has(self, fault: int) -> bool:
        return self.half is None or half_of(fault) == self.half


@dataclass(frozen=True, slots=True)
class Tracker:
    """The reports of one tracker in the order of their numbers. Known duplicates have the same `fault`."""

    name: str
    reports: Corpus

    @property
    def parts(self) -> tuple[Part, ...]:
        if self.name not in TUNED_ON:
            return (Part(f"{self.name}, unseen", None),)
        return Part(f"{self.name}, the half that tuned", 0), Part(f"{self.name}, the other half", 1)


def main(arguments: Sequence[str]) -> int:
    """Measure the trackers and print the table, or one JSON document; 0 where each goal is met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks issues", description="rank and join real bug reports")
    parser.add_argument("directory", type=Path, metavar="DIR", help="trackers in the form of GitBugs")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    options = parser.parse_args(arguments)
    found = list(trackers(options.directory))
    if not found:
        parser.error(f"no reports in {options.directory}: a tracker is NAME.csv beside NAME{_PAIRS}")
    result = measure(found)
    print(json.dumps(result.as_json(), indent=2) if options.json else as_table(result))
    return 0 if all(row.met is not False for row in result.rows) else 1


def trackers(directory: Path) -> Iterator[Tracker]:
    """The trackers of which both files are there."""
    for pairs in sorted(directory.rglob(f"*{_PAIRS}")):
        reports = pairs.with_name(pairs.name.removesuffix(_PAIRS) + ".csv")
        if reports.is_file():
            yield Tracker(pairs.name.removesuffix(_PAIRS), _read(reports, pairs))


def measure(found: Sequence[Tracker]) -> Result:
    """The figures of each part of each tracker; only what tuned nothing has a goal."""
    goals: list[Row] = []
    shown: list[Row] = []
    for tracker in found:
        own = Corpus(similarity.own_issues(tracker.reports.issues), tracker.reports.fault)
        texts = [similarity.text_of(issue) for issue in own.issues]
        ours = ranking(similarity.weigh(texts)[0])
        plain = _plain(tracker.reports)
        for part in tracker.parts:
            of = [index for index, fault in enumerate(own.fault) if part.has(fault)]
            share, theirs = (recall(nearest, own, of) for nearest in (ours, plain))
            what = f"{part.label}: recall among the {TOP} nearest"
            if part.unseen:
                goals.append(Row(f"{what}, ours : scikit-learn", share / max(theirs, 1e-9), "×", "at least", 1.0))
            shown.append(Row(f"{what}, ours", 100 * share, "%"))
            shown.append(Row(f"{what}, scikit-learn", 100 * theirs, "%"))
        shown += _joined(tracker)
    counts = "; ".join(_count(tracker) for tracker in found)
    notes = (
        f"Reports of {counts}. Halves by a hash of the lowest number among a report's known duplicates.",
        "scikit-learn: TfidfVectorizer with its defaults, of titles and bodies with their templates.",
        "Trackers know only some of their duplicates: more of the joined pairs than these may belong together.",
    )
    return Result("text grouping, real reports", 1, (*goals, *shown), notes)


def half_of(fault: int) -> int:
    """0 for what the weights and the threshold were tuned on, else 1."""
    return sha256(str(fault).encode()).digest()[-1] % 2


def _plain(asked: Corpus) -> Nearest:
    """The nearest by scikit-learn's defaults, of titles and bodies with their templates."""
    texts = [f"{issue.title}\n{issue.body}"[:_READ_CHARACTERS] for issue in asked.issues]
    return reference(texts, TOP, {}).nearest


def _joined(tracker: Tracker) -> list[Row]:
    """The pairs that words join, and how many of them are known duplicates."""
    fault = dict(zip((issue.number for issue in tracker.reports.issues), tracker.reports.fault, strict=True))
    links = [link for link in similarity.links(tracker.reports.issues) if link.reason.kind == "group.words"]
    rows = []
    for part in tracker.parts:
        of = [link for link in links if part.has(link.low)]
        right = sum(fault[link.low] == fault[link.high] for link in of)
        rows.append(Row(f"{part.label}: pairs joined by their words", len(of)))
        rows.append(Row(f"{part.label}: known duplicates among these", right))
    return rows


def _count(tracker: Tracker) -> str:
    faults = tracker.reports.fault
    known = [fault for fault in faults if faults.count(fault) > 1]
    counts = " and ".join(str(sum(map(part.has, known))) for part in tracker.parts)
    return f"{tracker.name}: {len(faults):,}, of which {counts} have known duplicates"


def _read(reports: Path, pairs: Path) -> Corpus:
    csv.field_size_limit(1 << 27)
    with reports.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Issue id"].strip().isdecimal()]
    read = {
        (number := int(row["Issue id"])): Issue(
            number=number, title=row["Summary"] or "", body=row["Description"] or ""
        )
        for row in rows
    }
    issues = tuple(read[number] for number in sorted(read)[:MAX_REPORTS])
    lowest = {issue.number: issue.number for issue in issues}
    with pairs.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for other in row["Duplicate id"].split(","):
                _join(lowest, row["Issue id"].strip(), other.strip())
    return Corpus(issues, tuple(_root(lowest, issue.number) for issue in issues))


def _join(lowest: dict[int, int], one: str, other: str) -> None:
    if one.isdecimal() and other.isdecimal() and int(one) in lowest and int(other) in lowest:
        first, second = sorted((_root(lowest, int(one)), _root(lowest, int(other))))
        lowest[second] = first


def _root(lowest: dict[int, int], number: int) -> int:
    while lowest[number] != number:
        number = lowest[number]
    return number
