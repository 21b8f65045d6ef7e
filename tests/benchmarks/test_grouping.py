"""The benchmark of grouping knows which issues are duplicates, and its own ranking is the one it says it is."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from benchmarks import grouping
from benchmarks.issue_texts import Corpus, corpus
from bot.model import Issue


def test_a_small_one_is_measured_end_to_end() -> None:
    size = grouping.Size(rounds=1, issues=60, many=120, ranked=20, reference=False)
    result = grouping.measure(size)
    assert all(math.isfinite(row.value) and row.value >= 0 for row in result.rows)
    assert sum(row.goal is not None for row in result.rows) == 2


def test_the_issues_are_the_same_for_the_same_seed_and_some_are_duplicates() -> None:
    made = corpus(200, 5)
    assert made == corpus(200, 5) != corpus(200, 6)
    assert [issue.number for issue in made.issues] == list(range(1, 201))
    sizes = Counter(Counter(made.fault).values())
    assert sizes[1] > 50
    assert sizes[2] + sizes[3] + sizes[4] > 20
    assert max(sizes) <= 4


def test_texts_of_one_fault_are_written_differently() -> None:
    made = corpus(400, 5)
    assert len({issue.title + issue.body for issue in made.issues}) == 400


def test_the_ranking_puts_the_same_words_first_and_leaves_the_text_itself_out() -> None:
    vectors = [{0: 0.6, 1: 0.8}, {0: 1.0}, {1: 1.0}, {2: 1.0}]
    assert grouping.ranking(vectors)[0] == [(2, pytest.approx(0.8)), (1, pytest.approx(0.6))]
    assert grouping.ranking(vectors)[3] == []


def test_recall_counts_duplicates_among_the_nearest() -> None:
    issues = tuple(Issue(number=number, title="t") for number in range(1, 5))
    asked = Corpus(issues, (7, 7, 7, 9))
    assert grouping.recall([[(1, 0.9), (2, 0.8)], [(3, 0.9)], [(0, 0.5)], [(0, 0.9)]], asked) == pytest.approx(0.5)
