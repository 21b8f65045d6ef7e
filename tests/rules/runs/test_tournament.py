"""Several changes for one attempt: which agent is asked, what is judged, which change is taken. Every prefix of the
events, as a crash may leave it, leads on to the same."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.config import Policy, StopPolicy
from bot.model import Status
from bot.model.events.tournament import CandidateFailed
from bot.rules.reasons import quoted
from bot.rules.runs.next_action import Choose, Implement, JudgeCandidate, Propose, Prove, Validate, next_action
from bot.rules.runs.state import RunState
from bot.rules.runs.tournament import Candidate, Tournament
from tests.rules.runs.played_run import T0, Luck, Story, actions, effect, end, kinds, play, spec
from tests.rules.runs.played_tournament import proposal

TWO = spec(candidates=2)


def tournament(story: Story) -> Tournament:
    found = story.state.tournament
    assert found is not None
    return found


def until(story: Story, kind: type) -> Story:
    """The run up to the action of that kind."""
    luck = Luck()
    while not isinstance(action := next_action(TWO, story.state, T0), kind):
        assert action is not None
        story.write(effect(TWO, action, story.state, luck))
    return story


def test_each_candidate_is_made_and_judged_before_the_next() -> None:
    """REQ-RUN-010."""
    taken = actions(TWO, Luck(verdicts=[True, False]))
    start = taken.index(Implement(attempt=1)) + 1
    checks = [Validate(attempt=1, index=index) for index in range(3)]
    proof = Prove(attempt=1, step="tests")
    assert taken[start : start + 11] == [
        Propose(attempt=1, candidate=1, agent=0),
        *(JudgeCandidate(candidate=1, action=step) for step in (*checks, proof)),
        Propose(attempt=1, candidate=2, agent=0),
        *(JudgeCandidate(candidate=2, action=step) for step in (*checks, proof)),
        Choose(attempt=1),
    ]
    assert kinds(taken[start + 11 :]) == ["review", "package", "finish"], "nothing is done again"


def test_a_run_goes_on_from_every_event_to_the_same_end() -> None:
    """REQ-RUN-007, REQ-RUN-010."""
    verdicts = [True, False, True, False, True, True]
    whole = play(TWO, Luck(verdicts=verdicts))
    assert end(whole) == (Status.SUCCESS, None)
    for length in range(len(whole.events)):
        assert play(TWO, Luck(), story=whole.until(length)).state.finished is Status.SUCCESS, whole.events[length - 1]


def test_a_run_with_candidates_ends_by_the_same_limits() -> None:
    """REQ-STOP-001, REQ-RUN-010: candidates of one attempt count as one."""
    story = play(spec(candidates=3, max_attempts=2), Luck(verdicts=[True] + [False] * 50))
    assert end(story) == (Status.FAILED, "max_iterations")
    assert len(story.state.made) == 2


def test_once_the_time_is_up_no_further_candidate_is_asked_for() -> None:
    """REQ-STOP-001."""
    limited = spec(candidates=2, policy=Policy(stop=StopPolicy(max_duration_ms=60_000)))
    story = until(Story(), Choose)
    story = story.until(next(at for at, (key, _) in enumerate(story.events) if key.startswith("candidate:1:2:")))
    late = T0 + timedelta(hours=1)
    assert next_action(limited, story.state, T0) == Propose(attempt=1, candidate=2, agent=0)
    assert next_action(limited, story.state, late) == Choose(attempt=1)
    before = until(Story(), Propose)
    assert isinstance(next_action(limited, before.state, late), Propose), "the attempt has begun"


def test_a_refused_change_is_no_reason_to_leave_the_agent_out_and_no_answer_is() -> None:
    def agents(*fates: str) -> list[int]:
        found = Tournament(wanted=4, agents=("one", "two"))
        asked = []
        while (agent := found.next_agent()) is not None and len(asked) < 4:
            number = len(asked) + 1
            asked.append(agent)
            fate = fates[number - 1]
            refused = "" if fate == "none" else fate
            failed = CandidateFailed(iteration=1, candidate=number, agent="x", reason=quoted("no"), refused=refused)
            found = Tournament(4, found.agents, candidates=(*found.candidates, Candidate(number, failure=failed)))
        return asked

    assert agents("secret", "secret", "secret", "secret") == [0, 1, 0, 1]
    assert agents("none", "secret", "secret", "secret") == [0, 1, 1, 1]
    assert agents("none", "none") == [0, 1]


@pytest.mark.parametrize(("lines", "best"), [((3, 2), 2), ((2, 2), 1), ((1, 2), 1)])
def test_of_equal_candidates_the_smaller_and_then_the_earlier_is_taken(lines: tuple[int, int], best: int) -> None:
    story = until(Story(), Propose)
    for number in (1, 2):
        action = Propose(attempt=1, candidate=number, agent=0)
        story.write(proposal(action, "applied", (), lines[number - 1]))
        story = until(story, Propose if number == 1 else Choose)
    winner = tournament(story).winner()
    assert winner is not None and winner.number == best


def test_the_state_of_the_run_is_untouched_by_its_candidates() -> None:
    story = until(Story(), Choose)
    state: RunState = story.state
    assert (state.made, state.validations, state.implemented, state.attempt_over) == ((), (), False, False)
    assert [each.state is not None for each in tournament(story).candidates] == [True, True]
