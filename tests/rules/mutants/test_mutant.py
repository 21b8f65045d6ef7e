"""One fault applied, and an even sample of many."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bot.rules.mutants.mutant import KINDS, Mutant, encoded, sample


def mutant(line: int, kind: int = 0, path: str = "a.py", start: int = 0) -> Mutant:
    return Mutant(path, line, KINDS[kind], "a", "b", start, start + 1)


def test_a_fault_replaces_bytes_not_characters() -> None:
    text = "é = '한국어' + x\r\n"
    start = encoded(text).index(b"+")
    fault = Mutant("a.py", 1, "arithmetic", "+", "-", start, start + 1)
    assert fault.apply(text) == "é = '한국어' - x\r\n"
    assert fault.apply("\udcff" + text[1:]).startswith("\udcff")


def test_a_sample_takes_each_line_before_a_second_of_one() -> None:
    many = [mutant(line, kind, start=10 * line + kind) for line in range(1, 5) for kind in range(6)]
    assert [one.line for one in sample(many, 4)] == [1, 2, 3, 4]
    assert Counter(one.line for one in sample(many, 10)) == {1: 3, 2: 2, 3: 3, 4: 2}
    assert len({one.kind for one in sample(many, 6)}) == 6


def test_a_sample_smaller_than_the_lines_is_spread_over_the_whole_change() -> None:
    many = [mutant(line, path=path) for path in ("a.py", "b.py") for line in range(1, 101)]
    chosen = sample(many, 10)
    assert Counter(one.path for one in chosen) == {"a.py": 5, "b.py": 5}
    assert [one.line for one in chosen[:5]] == [1, 21, 41, 61, 81]


@given(st.lists(st.builds(mutant, st.integers(1, 9), st.integers(0, 5)), max_size=40), st.integers(0, 45))
def test_a_sample_is_as_large_as_allowed_in_order_and_always_the_same(many: list[Mutant], limit: int) -> None:
    numbered = [mutant(one.line, KINDS.index(one.kind), start=at) for at, one in enumerate(many)]
    chosen = sample(numbered, limit)
    assert len(chosen) == min(limit, len(numbered))
    assert [one.start for one in chosen] == sorted({one.start for one in chosen})
    assert chosen == sample(list(numbered), limit)
