"""Made-up issues whose duplicates are known: faults of a made-up product, each reported by one person or by several.
The same ones for the same seed. They are synthetic: good for comparing two rankings, not for promising a precision."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

from bot.model import Issue

_PARTS = (
    "login signup password session profile avatar dashboard sidebar toolbar search filter export import upload",
    "download attachment invoice payment checkout cart coupon report chart calendar reminder notification email",
    "webhook backup restore sync cache proxy installer updater editor preview markdown table printer scanner",
    "keyboard shortcut theme translation timezone currency permission audit archive queue scheduler worker",
    "migration replica index",
)
_DEEDS = (
    "open close save load send receive rename delete move copy paste drag resize scroll zoom click submit cancel",
    "retry refresh reload connect disconnect sort group expand collapse select",
)
_SYMPTOMS = (
    "crashes",
    "hangs forever",
    "shows nothing",
    "is very slow",
    "loses data",
    "shows the wrong value",
    "throws an error",
    "flickers",
    "times out",
    "never finishes",
    "is cut off",
    "is duplicated",
    "ignores the setting",
    "uses too much memory",
    "freezes the window",
    "returns an empty page",
)
_TITLES = (
    "{part} {symptom} when I {deed} {clue}",
    "{deed} {clue}: {part} {symptom}",
    "[{part}] {symptom} after {deed}",
    "{clue} {symptom} in the {part}",
    "Problem with {part}: {clue} {symptom}",
)
_FORMS = (
    "### What happened\n\n{story}\n\n### Steps to reproduce\n\n1. Start version {version}\n2. {deed} {clue}\n\n"
    "### Expected behavior\n\nIt should work.\n\n### Environment\n\n{system}",
    "{story}\n\nThis is on {system} with version {version}. Any help is appreciated, thanks!",
    "Hi, {story}\nSteps: {deed} {clue}, wait, look at the {part}. Expected: no problem. Version {version}.",
    "{story}",
)
_SYSTEMS = ("Windows 11", "macOS 14", "Ubuntu 22.04", "Debian 12", "Android", "an iPhone", "Docker on Linux")
_SYLLABLES = tuple(consonant + vowel for consonant in "bdfgklmnprstvwz" for vowel in "aeio")
_COMMON, _RARE = 1500, 60_000


@dataclass(frozen=True, slots=True)
class Corpus:
    """`fault[n]` is what `issues[n]` is about; two issues with the same one are duplicates."""

    issues: tuple[Issue, ...]
    fault: tuple[int, ...]


def corpus(count: int, seed: int) -> Corpus:
    """So many issues: of three faults two have one report, the others two to four."""
    chance = random.Random(seed)
    common, rare = _words(_COMMON, 2, 3), _words(_RARE, 4, 5)
    weights = list(itertools.accumulate(1 / (rank + 2) for rank in range(_COMMON)))
    drawn: list[tuple[int, str, str]] = []
    for number in itertools.count():
        if len(drawn) >= count:
            break
        fault = _fault(chance, rare)
        for _ in range(1 if chance.random() < 2 / 3 else chance.randint(2, 4)):
            noise = chance.choices(common, cum_weights=weights, k=chance.randint(8, 50))
            drawn.append((number, *_report(chance, fault, noise)))
    del drawn[count:]
    chance.shuffle(drawn)
    issues = tuple(Issue(number=n, title=title, body=body) for n, (_, title, body) in enumerate(drawn, 1))
    return Corpus(issues, tuple(fault for fault, _, _ in drawn))


def _words(count: int, least: int, most: int) -> list[str]:
    lengths = (itertools.product(_SYLLABLES, repeat=length) for length in range(least, most + 1))
    every = ("".join(parts) for parts in itertools.chain(*lengths))
    found = list(itertools.islice(every, count * 7))
    return random.Random(count).sample(found, count)  # else all would begin alike


def _one_of(chance: random.Random, lines: Sequence[str]) -> str:
    return chance.choice(" ".join(lines).split())


def _fault(chance: random.Random, rare: Sequence[str]) -> dict[str, str]:
    return {
        "part": _one_of(chance, _PARTS),
        "other": _one_of(chance, _PARTS),
        "deed": _one_of(chance, _DEEDS),
        "symptom": chance.choice(_SYMPTOMS),
        "clues": " ".join(chance.choices(rare, k=chance.randint(2, 5))),
    }


def _report(chance: random.Random, fault: dict[str, str], noise: list[str]) -> tuple[str, str]:
    """A title and a body: what one person saw of the fault, in that person's words."""
    clues = fault["clues"].split()
    seen = [clue for clue in clues if chance.random() < 0.7] or clues[:1]
    told = {
        "part": fault["part"] if chance.random() < 0.8 else fault["other"],
        "deed": fault["deed"] if chance.random() < 0.7 else _one_of(chance, _DEEDS),
        "symptom": fault["symptom"] if chance.random() < 0.6 else chance.choice(_SYMPTOMS),
        "clue": seen[0],
        "version": f"{chance.randint(1, 4)}.{chance.randint(0, 20)}.{chance.randint(0, 9)}",
        "system": chance.choice(_SYSTEMS),
    }
    words = [*seen, *noise, told["part"], fault["other"], *seen[1:]]
    chance.shuffle(words)
    story = "The {part} {symptom}. ".format_map(told) + " ".join(words)
    title = chance.choice(_TITLES).format_map(told)
    return title[:1].upper() + title[1:], chance.choice(_FORMS).format_map(told | {"story": story})
