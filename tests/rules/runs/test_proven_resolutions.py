"""What a stage's pass proves: the errors that it had shown were resolved by what changed since, unless luck did it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bot.model import ValidationStep
from bot.rules.runs.proven_resolutions import MAX_SHOWN, FirstSeen, ProvenResolution, derive_resolutions, note

PASSED = ValidationStep(command="make test", stage="test", passed=True, exit_code=0)
FLAKY = PASSED.model_copy(update={"flaky": True})


def test_an_error_is_noted_with_the_tree_that_showed_it_first() -> None:
    shown = note((), 2, ("a", "b"), "base")
    shown = note(shown, 2, ("b", "c"), "t1")
    assert shown == (FirstSeen(2, "a", "base"), FirstSeen(2, "b", "base"), FirstSeen(2, "c", "t1"))
    assert note(shown, 1, ("a",), "t1")[-1] == FirstSeen(1, "a", "t1"), "another stage's error is another error"


def test_a_pass_resolves_what_its_stage_showed_each_from_the_tree_that_showed_it() -> None:
    """REQ-RA-311: the same check, on a later attempt, while passing."""
    shown = (FirstSeen(1, "a", "base"), FirstSeen(2, "b", "base"), FirstSeen(2, "c", "t1"), FirstSeen(2, "d", "base"))
    learned, left = derive_resolutions(shown, 2, PASSED, "t2")
    first = ProvenResolution(stage="test", command="make test", fingerprints=("b", "d"), before="base", after="t2")
    assert learned == (first, replace(first, fingerprints=("c",), before="t1"))
    assert left == (FirstSeen(1, "a", "base"),), "what another stage showed is still open"


def test_a_pass_by_luck_proves_nothing_and_makes_what_was_shown_doubtful() -> None:
    shown = (FirstSeen(0, "a", "base"), FirstSeen(1, "b", "base"))
    assert derive_resolutions(shown, 0, FLAKY, "t1") == ((), (FirstSeen(1, "b", "base"),))
    assert derive_resolutions(derive_resolutions(shown, 0, FLAKY, "t1")[1], 0, PASSED, "t2")[0] == ()


def test_a_pass_of_the_tree_that_failed_proves_nothing() -> None:
    shown = (FirstSeen(0, "a", "t1"), FirstSeen(0, "b", "base"))
    (lesson,), left = derive_resolutions(shown, 0, PASSED, "t1")
    assert (lesson.fingerprints, lesson.before, left) == (("b",), "base", ())
    assert derive_resolutions((FirstSeen(0, "a", "t1"),), 0, PASSED, "t1") == ((), ())


def test_only_so_many_errors_are_remembered() -> None:
    shown = note((), 0, tuple(f"e{number}" for number in range(MAX_SHOWN + 50)), "base")
    assert len(shown) == MAX_SHOWN and shown[0].fingerprint == "e0"
    assert note(shown, 1, ("late",), "t1") == shown


SEEN = st.lists(st.builds(FirstSeen, st.integers(0, 2), st.sampled_from("abc"), st.sampled_from(["base", "t1", "t2"])))


@given(SEEN.map(tuple), st.integers(0, 2), st.booleans(), st.sampled_from(["t1", "t2", "t3"]))
def test_a_lesson_always_rests_on_a_change_and_a_stage_that_passed_owes_nothing(
    shown: tuple[FirstSeen, ...], stage: int, flaky: bool, tree: str
) -> None:
    learned, left = derive_resolutions(shown, stage, FLAKY if flaky else PASSED, tree)
    assert all(one.before != one.after == tree and one.fingerprints for one in learned)
    assert left == tuple(one for one in shown if one.stage != stage)
    assert not (flaky and learned)
