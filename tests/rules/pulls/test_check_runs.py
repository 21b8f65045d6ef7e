"""What the runs of a check show of each failure, and which run is next (spec H, REQ-PROOF-004)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model.pulls import FailedOf, RunCounts
from bot.rules.failures.failure_origin import WHOLE
from bot.rules.pulls.check_runs import CheckRun, CheckRuns, NextRun, Place, failures_of_runs, identity
from bot.rules.pulls.evidence import CUT_SHORT, STATIC, TESTS, RunRule

A, B = "FAILED test_a.py::a - boom", "FAILED test_a.py::b - bang"
NAME_A, NAME_B = identity(A), identity(B)
LINE = "a.py:1: error: wrong"


def head(*errors: str, **fields: Any) -> CheckRun:
    return CheckRun("head", errors, **fields)


def base(*errors: str, **fields: Any) -> CheckRun:
    return CheckRun("base", errors, **fields)


def runs(*errors: str, rule: RunRule = TESTS, limit_ms: float = 1e9, **fields: Any) -> CheckRuns:
    return CheckRuns(rule=rule, first=head(*errors), limit_ms=limit_ms, **fields)


def played(check: CheckRuns, on_head: Any, on_base: Any) -> tuple[CheckRuns, list[NextRun]]:
    """Goes on to the end; the functions give the errors of each run by its number."""
    made: list[NextRun] = []
    while True:
        assert len(made) < 40
        if check.needs_base:
            check = replace(check, base=base(*on_base(0)))
        elif (wanted := check.next_run) is not None:
            made.append(wanted)
            number = sum(one.place == wanted.place for one in made)
            errors = (on_head if wanted.place == "head" else on_base)(number)
            tests = frozenset(wanted.tests) or None
            errors = tuple(error for error in errors if tests is None or identity(error) in tests)
            run = CheckRun(wanted.place, errors, tests=tests)
            check = replace(check, others=(*check.others, run))
        else:
            return check, made


def always(*errors: str) -> Any:
    return lambda _: errors


def verdicts(check: CheckRuns) -> dict[str, str]:
    return dict(check.verdicts())


@pytest.mark.parametrize(
    ("first", "on_head", "on_base", "found", "places"),
    [
        ((A,), always(A), always(), {NAME_A: "new"}, "hbhbhb"),
        ((A,), always(A), always(A), {NAME_A: "existing"}, "hbhb"),
        ((A,), always(), always(), {NAME_A: "unsure"}, "hb" * 8),
        ((A,), lambda n: (A,) if n % 2 else (), always(), {NAME_A: "new_flaky"}, "hb" * 5),
        ((A, B), always(A, B), always(B), {NAME_A: "new", NAME_B: "existing"}, "hbhbhb"),
        ((LINE,), always(LINE), always(), {LINE: "new"}, "hbhbhb"),
    ],
)
def test_head_and_base_run_in_turn_until_each_failure_has_a_verdict(
    first: tuple[str, ...], on_head: Any, on_base: Any, found: dict[str, str], places: str
) -> None:
    """REQ-PROOF-004."""
    check, made = played(runs(*first), on_head, on_base)
    assert verdicts(check) == found
    assert "".join(one.place[0] for one in made) == places


def test_only_tests_run_alone_and_only_those_without_a_verdict() -> None:
    _, made = played(runs(A, B), always(A, B), always(B))
    assert made[0].tests == (NAME_A, NAME_B)
    assert made[-1].tests == (NAME_A,)
    _, made = played(runs(A, LINE), always(A, LINE), always())
    assert {one.tests for one in made} == {()}
    many = [f"FAILED test_{number} - boom" for number in range(60)]
    assert runs(*many).next_run == NextRun("head")


def test_a_linter_runs_once_more_on_the_head_and_once_on_the_base() -> None:
    check, made = played(runs(LINE, rule=STATIC), always(LINE), always())
    assert (verdicts(check), made) == ({LINE: "new"}, [NextRun("head")])
    check, made = played(runs(LINE, rule=STATIC), always(), always())
    assert (verdicts(check), check.base) == ({LINE: "unsure"}, None)  # the base would not help
    check, made = played(runs(LINE, rule=STATIC), always(LINE), always(LINE))
    assert verdicts(check) == {LINE: "existing"}


def test_a_check_that_exceeded_a_limit_is_not_repeated() -> None:
    check, made = played(runs(A, rule=CUT_SHORT), always(A), always())
    assert (verdicts(check), made) == ({NAME_A: "new"}, [])


@pytest.mark.parametrize(
    ("limit_ms", "each_ms", "on_head", "number"),
    [
        (100_000, 10_000, always(A), 6),  # what a new failure needs fits into the time limit
        (100_000, 10_000, always(), 1),  # of other runs, a tenth
        (100_000, 1_000, always(), 10),
        (100_000, 30_000, always(A), 3),
        (100_000, 200_000, always(A), 1),
    ],
)
def test_repeated_runs_take_a_bounded_time(limit_ms: float, each_ms: int, on_head: Any, number: int) -> None:
    check = replace(runs(A, limit_ms=limit_ms), first=head(A, duration_ms=each_ms))
    made = 0
    while True:
        if check.needs_base:
            check = replace(check, base=base())
        elif (wanted := check.next_run) is not None:
            made += 1
            errors = on_head(made) if wanted.place == "head" else ()
            run = CheckRun(wanted.place, errors, duration_ms=each_ms)
            check = replace(check, others=(*check.others, run))
        else:
            break
    assert made == number


def test_an_unusable_run_ends_the_repetition() -> None:
    check = runs(A, others=(head(usable=False),), base=base())
    assert check.next_run is None
    assert verdicts(check) == {NAME_A: "unsure"}


def test_a_test_that_the_base_does_not_have_is_the_changes_own() -> None:
    absent = base(absent=frozenset({NAME_A}))
    check = runs(A, base=absent, others=(head(A),) * 3)
    assert verdicts(check) == {NAME_A: "new"}
    check = runs(A, base=base(), base_cached=True, others=(head(A), head(A), head(A), absent))
    assert verdicts(check) == {NAME_A: "new"}  # the cached result did not know which tests ran
    check = runs(A, base=absent, others=(head(),))
    (failure,) = failures_of_runs(check)
    assert (failure.verdict, failure.base_absent, failure.own) == ("new_flaky", True, True)


def test_a_file_of_tests_that_the_base_cannot_read_hides_its_tests() -> None:
    hidden = base("FAILED test_a.py - ImportError", absent=frozenset({NAME_A}))
    check = runs(A, base=hidden, others=(head(A), head()))
    assert verdicts(check) == {NAME_A: "unsure"}


@pytest.mark.parametrize("because", ["base_setup", "base_not_run", "base_unknown"])
def test_where_the_base_is_unknown_what_fails_each_time_counts_as_new(because: str) -> None:
    check, made = played(runs(A, base_because=because), always(A), always())
    assert (verdicts(check), [one.place for one in made]) == ({NAME_A: "new"}, ["head"] * 3)
    check, _ = played(runs(A, base_because=because), always(), always())
    assert verdicts(check) == {NAME_A: "unsure"}


def test_remembered_runs_on_the_merge_base_need_not_be_repeated() -> None:
    known = {NAME_A: (RunCounts(passed=6), RunCounts(passed=40))}
    check, made = played(runs(A, remembered=known, base=base(), base_cached=True), always(A), always())
    assert verdicts(check) == {NAME_A: "new"}
    assert [one.place for one in made] == ["head"] * 3
    assert check.evidence[NAME_A].base == RunCounts(passed=6)


def test_a_test_that_was_flaky_on_the_base_branch_is_flaky_before() -> None:
    known = {NAME_A: (RunCounts(), RunCounts(failed=20, passed=30))}
    check, _ = played(runs(A, remembered=known), lambda n: (A,) if n % 3 == 0 else (), lambda n: (A,) if n % 3 else ())
    assert verdicts(check) == {NAME_A: "flaky_before"}


@pytest.mark.parametrize(
    ("first", "others", "on_base", "verdict"),
    [
        ((WHOLE,), (WHOLE,), (), "unsure"),
        ((WHOLE,), (WHOLE,), (WHOLE,), "existing"),
        (("x",), ("y",), ("x",), "unsure"),
        (("x",), ("y",), ("x", "y", "z"), "existing"),
    ],
)
def test_a_check_that_fails_in_another_way_each_time_fails_as_a_whole(
    first: tuple[str, ...], others: tuple[str, ...], on_base: tuple[str, ...], verdict: str
) -> None:
    check = runs(*first, others=(head(*others),), base=base(*on_base))
    assert verdicts(check)[WHOLE] == verdict
    more = replace(check, others=(*check.others, head("v"), head("w"), *(base(),) * 3), base=base())
    assert verdicts(more)[WHOLE] == "new"


def test_a_check_that_passed_once_does_not_fail_as_a_whole() -> None:
    assert WHOLE not in verdicts(runs("x", others=(head(),), base=base()))
    assert WHOLE not in verdicts(runs("x", others=(head("x", "y"),), base=base()))


def test_reach_excuses_what_executes_no_changed_line() -> None:
    check = runs(A, others=(head(A),), base=base(), reached={NAME_A: False})
    assert verdicts(check) == {NAME_A: "not_reached"}
    assert check.next_run is None
    changed = replace(check, changed=frozenset({NAME_A}))
    assert verdicts(changed) == {NAME_A: "unsure"}


def test_a_changed_test_that_passes_runs_ten_times() -> None:
    """REQ-PROOF-004."""
    check, made = played(runs(changed=frozenset({NAME_B})), always(), always())
    assert made == [NextRun("head", (NAME_B,))] * 9
    assert (verdicts(check), failures_of_runs(check)) == ({}, ())
    check, made = played(runs(changed=frozenset({NAME_B})), lambda n: (B,) if n == 4 else (), always())
    assert verdicts(check) == {NAME_B: "unsure"}
    assert [one.place for one in made].count("base") == 8
    absent = base(absent=frozenset({NAME_B}))
    (failure,) = failures_of_runs(replace(check, base=absent, others=check.others[:4]))
    assert (failure.verdict, failure.own) == ("new_flaky", True)


def test_changed_tests_that_cannot_run_alone_are_not_repeated() -> None:
    check = runs(changed=frozenset({NAME_B}), others=(head(tests=frozenset({NAME_B}), absent=frozenset({NAME_B})),))
    assert check.next_run is None
    slow = replace(runs(changed=frozenset({NAME_B}), limit_ms=100_000), first=head(duration_ms=20_000))
    assert slow.next_run is None


def test_reach_is_measured_once_where_it_may_decide() -> None:
    check = runs(A, others=(head(A),), base=base())
    assert check.tests_to_measure == (NAME_A,)
    assert replace(check, reach_measured=True).tests_to_measure == ()
    assert runs(A).tests_to_measure == ()  # the failure may pass when it runs again
    assert runs(A, others=(head(A),)).tests_to_measure == ()  # the base may show it, too
    assert runs(LINE, others=(head(LINE),), base=base()).tests_to_measure == ()
    assert runs(LINE, rule=STATIC, others=(head(LINE),), base=base()).tests_to_measure == ()


MANY = tuple(f"FAILED test_{number} - no database" for number in range(9))
OTHER = tuple(f"FAILED other_{number} - no network" for number in range(9))
BROKEN = FailedOf(failed=9, ran=10)


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        ({"base_because": "base_setup"}, True),
        ({"base": base(*OTHER)}, True),
        ({"base": base(*MANY)}, False),  # existing failures
        ({"base": base()}, False),  # the same setup works on the base, so the change broke it
        ({"base": base(OTHER[0])}, False),
        ({"base_because": "base_absent"}, False),
        ({}, False),
    ],
)
def test_most_tests_failing_is_a_broken_setup_unless_the_base_says_otherwise(fields: Any, broken: bool) -> None:
    """REQ-PROOF-004."""
    check = runs(*MANY, tests=BROKEN, others=(head(*MANY),), **fields)
    assert check.has_broken_setup is broken
    assert (failures_of_runs(check) == ()) is broken
    few = replace(check, tests=FailedOf(failed=4, ran=4))
    assert not few.has_broken_setup
    assert not replace(check, tests=FailedOf(failed=9, ran=20)).has_broken_setup
    if broken:
        assert check.next_run is None


def test_a_change_that_breaks_every_test_is_guilty_where_the_base_passes() -> None:
    check, _ = played(runs(*MANY, tests=BROKEN), always(*MANY), always())
    assert set(verdicts(check).values()) == {"new"}


_ERRORS = st.lists(st.sampled_from([A, B, LINE]), unique=True, max_size=3).map(tuple)
_FAILED = st.lists(st.sampled_from([A, B, LINE]), unique=True, min_size=1, max_size=3).map(tuple) | st.just((WHOLE,))


@settings(deadline=None)
@given(
    first=_FAILED, course=st.lists(_ERRORS, min_size=9, max_size=9), on_base=st.lists(_ERRORS, min_size=9, max_size=9)
)
def test_it_always_ends_with_one_verdict_for_each_failure(first: Any, course: Any, on_base: Any) -> None:
    check, made = played(runs(*first), lambda n: course[n - 1], lambda n: on_base[n])
    found = failures_of_runs(check)
    seen = {identity(error) for run in (check.first, *check.others) if run.place == "head" for error in run.errors}
    assert {identity(one.error) for one in found} - {WHOLE} == seen - {WHOLE}
    assert len(found) == len({one.error for one in found}) > 0
    places: list[Place] = ["head", "base"]
    assert all(sum(one.place == place for one in made) <= 8 for place in places)
    for one in found:
        assert one.verdict != "new" or (one.head.failed >= 4 and not one.head.passed and not one.base.failed)
