"""*Text grouping*: how long the grouping of many issues by their text takes, and whether it ranks as scikit-learn does.
The issues are made up (`issue_texts`), so that it is known which of them are duplicates."""

from __future__ import annotations

import gc
import heapq
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.issue_texts import Corpus, corpus
from benchmarks.result import Result, Row
from benchmarks.servers import REFERENCES, ROOT
from bot.rules.grouping import group_issues, similarity
from bot.rules.grouping.stop_words import STOP_WORDS

PACKAGE = "scikit-learn==1.9.1"
_CACHE = ROOT / ".cache" / "bench" / "scikit-learn"
TOP = 10
Options = Mapping[str, Any]
AS_OURS: Options = {"sublinear_tf": True, "stop_words": sorted(STOP_WORDS)}
"""The options with which scikit-learn weighs words as `similarity.weigh` does."""
Nearest = Sequence[Sequence[tuple[int, float]]]


@dataclass(frozen=True, slots=True)
class Size:
    """`ranked`: of how many of the issues the ranking is compared, as ours looks at every pair for that."""

    rounds: int = 5
    issues: int = 10_000
    many: int = 100_000
    ranked: int = 2_000
    seed: int = 1
    reference: bool = True


@dataclass(frozen=True, slots=True)
class Reference:
    """What scikit-learn says: for each text the nearest, best first, and how long all of them took."""

    nearest: Nearest
    seconds: float


def measure(size: Size) -> Result:
    """Times, then quality; raises RuntimeError where scikit-learn can't be fetched."""
    issues = corpus(size.issues, size.seed)
    times = [_timed(issues) for _ in range(size.rounds)]
    many = _timed(corpus(size.many, size.seed)) if size.many else None
    rows = [Row(f"{size.issues:,} issues grouped by similarity", median(times), "s", "at most", 1.5)]
    if many is not None:
        growth = f"{size.many:,} issues : {size.issues:,} issues"
        rows.append(Row(growth, many / median(times), "×", "at most", 1.5 * size.many / size.issues))
    shown = _pairs(issues)
    if size.reference:
        ranked, figures = _compared(issues, corpus(size.ranked, size.seed), size)
        rows, shown = rows + ranked, shown + figures
    if many is not None:
        shown.append(Row(f"{size.many:,} issues grouped by similarity", many, "s"))
    notes = (
        "Made-up issues with known duplicates, the same in every run; real ones are worded worse, so that precision "
        "and recall here compare two rankings and promise nothing.",
        "Seconds of the processor, one thread; ours include reading each issue for references, errors and files.",
        f"A text's nearest is shown where its cosine is {similarity.THRESHOLD} or more; below that nobody is joined.",
    )
    return Result("text grouping", size.rounds, (*rows, *shown), notes)


def _timed(asked: Corpus) -> float:
    """Seconds of the processor: one thread that never waits, so what else the machine does is left out."""
    gc.collect()  # what an earlier round left is not this one's to collect
    began = time.process_time()
    group_issues(asked.issues, "similarity")
    return time.process_time() - began


def _pairs(asked: Corpus) -> list[Row]:
    """What words alone join: mutual best matches."""
    joined = [
        (link.low - 1, link.high - 1) for link in similarity.links(asked.issues) if link.reason.kind == "group.words"
    ]
    right = sum(asked.fault[low] == asked.fault[high] for low, high in joined)
    sizes: dict[int, int] = defaultdict(int)
    for fault in asked.fault:
        sizes[fault] += 1
    pairs = sum(count * (count - 1) // 2 for count in sizes.values())
    return [
        Row("pairs joined by their words: duplicates", 100 * right / max(1, len(joined)), "%"),
        Row("duplicate pairs: joined by their words", 100 * right / max(1, pairs), "%"),
    ]


def _compared(issues: Corpus, ranked: Corpus, size: Size) -> tuple[list[Row], list[Row]]:
    """Rows with a goal, rows without."""
    theirs = reference(_texts(ranked), TOP, AS_OURS)
    ours_recall = recall(ranking(similarity.weigh(_texts(ranked))[0]), ranked)
    their_recall = recall(theirs.nearest, ranked)
    whole = reference(_texts(issues), 1, AS_OURS)
    same, clear = _same_best(issues, whole.nearest)
    goals = [
        Row(
            f"recall of duplicates among the {TOP} nearest, ours : scikit-learn",
            ours_recall / their_recall,
            "×",
            "at least",
            1.0,
        ),
        Row(
            "the nearest text is scikit-learn's, where that is near enough",
            100 * same / max(1, clear),
            "%",
            "at least",
            99.0,
        ),
    ]
    return goals, [
        Row(f"recall among the {TOP} nearest, {size.ranked:,} issues, ours", 100 * ours_recall, "%"),
        Row(f"recall among the {TOP} nearest, {size.ranked:,} issues, scikit-learn", 100 * their_recall, "%"),
        Row(f"scikit-learn, the nearest of {size.issues:,} texts, without reading issues", whole.seconds, "s"),
    ]


def _texts(asked: Corpus) -> list[str]:
    return [similarity.text_of(issue) for issue in asked.issues]


def ranking(vectors: Sequence[Mapping[int, float]]) -> Nearest:
    """For each text the nearest by our weights, every pair that shares a word looked at."""
    holders: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for index, vector in enumerate(vectors):
        for word, weight in vector.items():
            holders[word].append((index, weight))
    nearest = []
    for index, vector in enumerate(vectors):
        cosines: dict[int, float] = defaultdict(float)
        for word, weight in vector.items():
            for there, other in holders[word]:
                cosines[there] += weight * other
        cosines.pop(index, None)  # a text may have no word that another one has
        nearest.append(heapq.nlargest(TOP, cosines.items(), key=lambda pair: (pair[1], -pair[0])))
    return nearest


def recall(nearest: Nearest, asked: Corpus, of: Iterable[int] | None = None) -> float:
    """The share of an issue's duplicates that are among its nearest, over all issues, or those `of`, that have any."""
    same: dict[int, set[int]] = defaultdict(set)
    for index, fault in enumerate(asked.fault):
        same[fault].add(index)
    shares = []
    for index in range(len(nearest)) if of is None else of:
        wanted = same[asked.fault[index]] - {index}
        if wanted:
            shares.append(len(wanted & {there for there, _ in nearest[index]}) / min(len(wanted), TOP))
    return sum(shares) / len(shares) if shares else 0.0


def _same_best(asked: Corpus, nearest: Nearest) -> tuple[int, int]:
    """Of the texts whose nearest by scikit-learn is near enough to be joined: how many have it with us, and how many
    there are. Another one that is exactly as near is the same."""
    vectors, _ = similarity.weigh(_texts(asked))
    ours = similarity._best_matches(vectors)
    clear = [(here, found[0][1]) for here, found in enumerate(nearest) if found[0][1] >= similarity.THRESHOLD + 1e-6]
    return sum(here in ours and ours[here][1] >= cosine - 1e-6 for here, cosine in clear), len(clear)


def reference(texts: Sequence[str], top: int, options: Options) -> Reference:
    install()
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        asked = Path(where) / "texts.json"
        asked.write_text(json.dumps({"texts": texts, "top": top, "options": options}), encoding="utf-8")
        env = {**os.environ, "PYTHONPATH": str(_CACHE), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        argv = (sys.executable, str(REFERENCES / "tfidf.py"), str(asked))
        said = json.loads(subprocess.run(argv, env=env, check=True, capture_output=True).stdout)
    return Reference(said["nearest"], said["seconds"])


def install() -> None:
    """Make the reference ready, in a directory git does not see; RuntimeError with pip's words where that fails."""
    done = _CACHE / "installed.txt"
    if done.is_file() and done.read_text(encoding="utf-8") == PACKAGE:
        return
    argv = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:")
    found = subprocess.run((*argv, "--upgrade", "--target", str(_CACHE), PACKAGE), capture_output=True, text=True)
    if found.returncode != 0:
        raise RuntimeError(f"pip could not install {PACKAGE}: {found.stderr[-2000:]}")
    done.write_text(PACKAGE, encoding="utf-8")
