"""Finds issues that belong together by their text alone: explicit references first, then the same error, then the
same place in the code, then words (REQ-WF-007). Words are weighed as scikit-learn does, those of the title more; only
mutual best matches are linked."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain, pairwise

from bot.model import Issue
from bot.model.reasons import Reason
from bot.rules.failures.normalize import normalize_error
from bot.rules.grouping import references
from bot.rules.grouping.issue_templates import own_bodies
from bot.rules.grouping.stop_words import STOP_WORDS
from bot.rules.grouping.template_files import NO_TEMPLATES, Templates, own_title
from bot.rules.reasons import make_reason

THRESHOLD = 0.4
"""The minimum cosine of two similar texts; most pairs have less (performance.md, text grouping)."""

_REFERENCE, _ERROR, _PLACE, _FILE, _WORDS = range(5)
_WORD = re.compile(r"\b\w\w+\b")
_LIMIT = THRESHOLD * THRESHOLD - 1e-9
_SHOWN_WORDS = 4
_TOUCHES = 60
_CANDIDATES = 4
_MAX_HOLDERS = 400
_READ_CHARACTERS = 2000
_TITLE_WEIGHT = 3
_COMMON_FILE = 20


@dataclass(frozen=True, slots=True)
class Link:
    """Two issues that belong together, the lower number first. Lower ranks are more certain; `strength` sorts within
    a `rank`."""

    rank: int
    strength: float
    low: int
    high: int
    reason: Reason


def links(issues: Sequence[Issue], templates: Templates = NO_TEMPLATES) -> tuple[Link, ...]:
    """All links between two of `issues`, the most certain first; the order of `issues` makes no difference. Text of
    `templates`, and of a template that many of the issues share, does not count."""
    ordered = sorted(own_issues(issues, templates), key=lambda issue: issue.number)
    read = {issue.number: references.parse_references(issue) for issue in ordered}
    found = [
        *_references(read),
        *_shared(_ERROR, {n: _fingerprints(m) for n, m in read.items()}, "error"),
        *_shared(_PLACE, {n: m.places for n, m in read.items()}, "place"),
        *_shared(_FILE, {n: tuple(f for f in m.files if "/" in f) for n, m in read.items()}, "file"),
        *_words(ordered),
    ]
    return tuple(sorted(found, key=lambda link: (link.rank, -link.strength, link.low, link.high)))


def own_issues(issues: Sequence[Issue], templates: Templates = NO_TEMPLATES) -> tuple[Issue, ...]:
    """The issues with the text alone that their authors wrote."""
    bodies = own_bodies(issues, templates)
    return tuple(
        Issue.model_construct(number=one.number, title=own_title(one.title, templates), body=bodies[one.number])
        for one in issues
    )


def text_of(issue: Issue) -> str:
    """The text whose words are weighed: the title several times, and the first part of the body."""
    return f"{issue.title}\n" * _TITLE_WEIGHT + issue.body[:_READ_CHARACTERS]


def _fingerprints(found: references.Mentions) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for line in found.errors if (text := normalize_error(line))))


def _references(read: Mapping[int, references.Mentions]) -> list[Link]:
    pairs: dict[tuple[int, int], int] = Counter()
    for number, found in read.items():
        for other in found.references & read.keys():
            pairs[min(number, other), max(number, other)] += 1
    return [
        Link(_REFERENCE, count, low, high, _shared_reason("each" if count > 1 else "one_way", low, high))
        for (low, high), count in pairs.items()
    ]


def _shared(rank: int, having: Mapping[int, Sequence[str]], kind: str) -> list[Link]:
    """Links between issues with neighbouring numbers that share a thing, so that many issues make a chain. The fewer
    issues share a thing, the stronger is the link."""
    owners: dict[str, list[int]] = defaultdict(list)
    for number, things in having.items():
        for thing in things:
            owners[thing].append(number)
    best: dict[tuple[int, int], tuple[float, str]] = {}
    for thing, numbers in owners.items():
        if rank == _FILE and len(numbers) > _COMMON_FILE:
            continue  # what everybody names, a README or a lock file, ties nobody together
        for low, high in pairwise(numbers):
            best[low, high] = max(best.get((low, high), (0.0, "")), (1 / len(numbers), thing))
    return [
        Link(rank, strength, low, high, _shared_reason(kind, low, high, what=thing))
        for (low, high), (strength, thing) in best.items()
    ]


def _shared_reason(kind: str, low: int, high: int, **values: str) -> Reason:
    return make_reason(f"group.{kind}", low=low, high=high, **values)


def weigh(texts: Sequence[str]) -> tuple[list[dict[int, float]], list[str]]:
    """TF-IDF as scikit-learn's `TfidfVectorizer(sublinear_tf=True, stop_words=STOP_WORDS)` (smooth idf, unit length),
    and the words of the vectors' keys, rarest first. Words of a single text count in its length only, as nothing
    shares them."""
    counts = [Counter(_WORD.findall(text.lower())) for text in texts]
    frequency = Counter(chain.from_iterable(counts))
    for word in STOP_WORDS & frequency.keys():
        del frequency[word]
    words = sorted(frequency, key=lambda word: (frequency[word], word))
    first_shared = sum(number == 1 for number in frequency.values())
    rank = {word: index for index, word in enumerate(words)}
    idf = [math.log((1 + len(texts)) / (1 + frequency[word])) + 1 for word in words]
    vectors = []
    for count in counts:
        weights = [
            (index, idf[index] if number == 1 else (1 + math.log(number)) * idf[index])
            for word, number in count.items()
            if (index := rank.get(word)) is not None
        ]
        length = math.sqrt(sum([weight * weight for _, weight in weights]))
        vectors.append({index: weight / length for index, weight in weights if index >= first_shared})
    return vectors, words


def _words(issues: Sequence[Issue]) -> list[Link]:
    vectors, words = weigh([text_of(issue) for issue in issues])
    best = _best_matches(vectors)
    found = []
    for here, (there, cosine) in best.items():
        common = vectors[here].keys() & vectors[there].keys()
        if here < there and best[there][0] == here and len(common) > 1:
            low, high = issues[here].number, issues[there].number
            heaviest = sorted(common, key=lambda index: (-vectors[here][index], index))[:_SHOWN_WORDS]
            shown = ", ".join(words[index] for index in heaviest)
            why = _shared_reason("words", low, high, cosine=f"{cosine:.2f}", words=shown)
            found.append(Link(_WORDS, cosine, low, high, why))
    return found


def _best_matches(vectors: Sequence[Mapping[int, float]]) -> dict[int, tuple[int, float]]:
    """For each text the one most like it and their cosine, where that is THRESHOLD or more; ties go to the lower index.

    By prefix filtering (Bayardo et al., "Scaling up all pairs similarity search", 2007): with words in one order,
    rarest first, two texts can reach the threshold only if they share a word of that part of each which leaves a rest
    shorter than the threshold. Exact in small collections; in large ones words that hundreds share find nobody new."""
    best: dict[int, tuple[int, float]] = {}
    holders: dict[int, list[int]] = defaultdict(list)
    for here, vector in enumerate(vectors):
        shared: dict[int, float] = defaultdict(float)
        unseen = sum([weight * weight for weight in vector.values()])
        for rank in _prefix(vector, unseen):
            if len(shared) < _TOUCHES:
                square = vector[rank] ** 2
                unseen -= square
                for there in holders[rank][-_MAX_HOLDERS:]:
                    shared[there] += square
            holders[rank].append(here)
        # by Cauchy and Schwarz no cosine is above the length of the words that may be shared
        near = [there for there, length in shared.items() if length + unseen >= _LIMIT]
        if len(near) > _CANDIDATES:
            near = nlargest(_CANDIDATES, near, key=shared.__getitem__)
        for there in sorted(near):
            cosine = _cosine(vector, vectors[there])
            if cosine >= THRESHOLD:
                if cosine > best.get(here, (0, 0.0))[1]:
                    best[here] = (there, cosine)
                if cosine > best.get(there, (0, 0.0))[1]:
                    best[there] = (here, cosine)
    return best


def _prefix(vector: Mapping[int, float], rest: float) -> list[int]:
    ordered = sorted(vector)
    for index, rank in enumerate(ordered):
        if rest < _LIMIT:
            return ordered[:index]
        rest -= vector[rank] ** 2
    return ordered


def _cosine(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    return sum([one[rank] * other[rank] for rank in one.keys() & other.keys()])
