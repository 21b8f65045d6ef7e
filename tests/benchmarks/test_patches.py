"""The benchmark of patches judges by bytes: what is not exactly right is wrong, even where an applier is content."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks import mutants, patches, releases
from benchmarks.mutants import Mutant

BEFORE = "".join(f"line {number}\n" for number in range(30))
AFTER = BEFORE.replace("line 3\n", "line three\n").replace("line 20\n", "")


@pytest.fixture
def mutant() -> Mutant:
    found = releases._renumbered(releases._hunks(BEFORE, AFTER))
    assert releases.spliced(BEFORE, found) == AFTER
    return Mutant(BEFORE, AFTER, found, ())


def writing(text: str, content: bool = True) -> patches.Applier:
    def apply(directory: Path, patch: str) -> bool:
        (directory / "file").write_text(text)
        return content

    return apply


def test_only_the_true_bytes_are_right(tmp_path: Path, mutant: Mutant) -> None:
    assert patches._verdict(writing(AFTER), mutant, tmp_path) == "right"
    assert patches._verdict(writing(AFTER + "\n"), mutant, tmp_path) == "wrong"
    assert patches._verdict(writing(BEFORE), mutant, tmp_path) == "wrong"
    assert patches._verdict(writing(BEFORE, content=False), mutant, tmp_path) == "refused"


def test_a_diff_that_is_right_is_right_for_every_applier(tmp_path: Path, mutant: Mutant) -> None:
    verdicts = {name: patches._verdict(apply, mutant, tmp_path) for name, apply in patches._appliers(True).items()}
    assert set(verdicts.values()) == {"right"}
    assert len(verdicts) >= 4


@pytest.mark.parametrize("kind", [kind for kind in mutants.KINDS if kind != "the file has moved on"])
def test_every_kind_gives_another_diff_or_another_file(kind: str, mutant: Mutant) -> None:
    made = [mutants.KINDS[kind](mutant, random.Random(seed)) for seed in range(5)]
    for one in made:
        assert one is None or (one == mutant) == (kind == "a right diff")


def test_a_hunk_that_fits_twice_under_a_wrong_header_cannot_be_told() -> None:
    hunk = releases.Hunk(2, (1, 1), (1, 1), "", ("-b", "+c"))
    twice = Mutant("a\nb\nb\n", "a\nb\nc\n", (hunk,), ())
    assert not mutants.determinable(twice)
    assert mutants.determinable(Mutant("a\na\nb\n", "a\na\nc\n", (hunk,), ()))
