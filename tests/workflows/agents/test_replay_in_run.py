"""What one run learned the next one uses: the patch that helped is repeated, the one that did not is not tried again,
and neither crosses from one repository to another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.config import Policy
from bot.model import Issue, KnownError, Repo, RunView, Status
from bot.model.events.phases import ImplementationFailed
from bot.model.events.runs import AttemptStarted
from bot.model.guidance_trial import GuidanceTrial, TriedGuidance
from bot.reports.locale.reasons import english
from bot.rules.history.guidance_trial import is_withheld
from bot.rules.runs.state import SAME_PATCH, RunState
from bot.workflows.reporting.run_view import view_of
from tests.workflows.conftest import NAME, Harness
from tests.workflows.whole_run import ERROR, JUDGE, POLICY, Doer, go, judged, through, told, writes

AtDesk = Callable[..., Any]
MENDS = "command:sh -c 'echo 42 > answer.txt'"
OTHER = "octo/other"
WITHHELD = "run-7"
"""A run that the trial gives no guidance."""


async def taught(at: Harness) -> RunState:
    """A run that learned how to fix the answer."""
    judged(at)
    at.hands = [Doer([writes("42\n")])]
    state = await go(at, "run-1")
    at.hands = []  # from now on the agents are those of the spec
    return state


async def known(at: Harness) -> KnownError:
    found = await at.context.stores.history.by_error(ERROR)
    assert found is not None
    return found


async def elsewhere(at: Harness, run_id: str, **more: Any) -> RunState:
    """A run of another repository with the same files and the same error."""
    at.github.world.create_repo(OTHER, {"answer.txt": "41\n", "judge.py": JUDGE})
    repo = Repo(owner="octo", name="other", installation_id=at.github.world.installation_id(OTHER))
    number = at.github.world.create_issue(OTHER, "It is wrong", "in answer.txt", author="ada")
    issues = (Issue(number=number, title="It is wrong", body="in answer.txt"),)
    spec = at.spec(number, repo=repo, issues=issues, policy=Policy.model_validate(POLICY), **more)
    assert await at.runs.create(run_id, spec)
    return await through(at, run_id)


# ---- what helped


def test_the_next_run_of_the_same_error_repeats_the_patch_as_an_attempt_of_its_own(at_desk: AtDesk) -> None:
    """REQ-RUN-008, REQ-RA-311: agent `history` replays a proven resolution's patch, which is proven once more."""

    async def work(at: Harness) -> tuple[RunState, RunState, KnownError]:
        first = await taught(at)
        return first, await go(at, "run-2", agents=("history", "command:false")), await known(at)

    first, second, found = at_desk(work)
    assert second.finished is Status.SUCCESS
    (made,) = second.made
    assert (made.agent, made.attempt, made.paths) == ("history", 1, ("answer.txt",))
    assert made.replays == first.made[0].patch_hash == made.patch_hash
    assert (found.use_count, found.resolution.run_id) == (2, "run-2")


def test_where_the_patch_does_not_fit_the_next_agent_is_asked_in_the_same_attempt(at_desk: AtDesk) -> None:
    """REQ-RUN-008: an agent with nothing to offer costs no attempt."""

    async def work(at: Harness) -> tuple[RunState, int]:
        await taught(at)
        at.github.world.push_commit(NAME, "main", {"answer.txt": "about forty\n"}, "ada")
        state = await go(at, "run-2", agents=("history", MENDS))
        return state, len(await told(at, "run-2", "phase_failed"))

    state, failed = at_desk(work)
    assert (state.finished, state.agents, state.attempt, failed) == (Status.SUCCESS, ("command",), 1, 0)


def test_a_changelog_that_has_moved_on_does_not_keep_a_fix_from_being_repeated(at_desk: AtDesk) -> None:
    """REQ-RA-311: the source is repeated, what does not fit of the changelog is left out and said."""

    async def work(at: Harness) -> tuple[RunState, str]:
        judged(at, CHANGELOG__md="# Changes\n\n## Next\n\n- one\n")

        def fix(tree: Path) -> None:
            writes("42\n")(tree)
            writes("# Changes\n\n## Next\n\n- one\n- the answer\n", "CHANGELOG.md")(tree)

        at.hands = [Doer([fix])]
        assert (await go(at, "run-1")).finished is Status.SUCCESS
        at.hands = []
        at.github.world.push_commit(NAME, "main", {"CHANGELOG.md": "# 2.0\n\nAll new.\n"}, "ada")
        state = await go(at, "run-2", agents=("history",))
        (applied,) = await told(at, "run-2", "changes_applied")
        return state, applied.data()["note"]

    state, note = at_desk(work)
    assert (state.finished, state.agents, state.changed_paths) == (Status.SUCCESS, ("history",), ("answer.txt",))
    assert note.endswith("; left out what does not fit in CHANGELOG.md")


def test_that_a_patch_does_not_fit_is_said_where_nobody_else_can_help(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> RunState:
        await taught(at)
        at.github.world.push_commit(NAME, "main", {"answer.txt": "about forty\n"}, "ada")
        return await go(at, "run-2", agents=("history",))

    stop = at_desk(work).stop
    assert stop is not None and stop.reason == "nothing_to_offer"
    assert "its patch does not fit" in english(stop.details)


def test_a_patch_that_is_refused_here_is_passed_over_too(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, int]:
        judged(at, tox__ini="[testenv]\ncommands = old\n")

        def mend(tree: Path) -> None:
            writes("42\n")(tree)
            writes("[testenv]\ncommands = new\n", "tox.ini")(tree)

        at.hands = [Doer([mend])]
        asked_for = (Issue(number=at.issue(), title="It is wrong", body="in tox.ini and answer.txt"),)
        assert (await go(at, "run-1", issues=asked_for)).finished is Status.SUCCESS
        at.hands = []
        return await go(at, "run-2", agents=("history", MENDS)), len(await told(at, "run-2", "phase_failed"))

    state, failed = at_desk(work)
    assert (state.finished, state.agents, state.attempt, failed) == (Status.SUCCESS, ("command",), 1, 0)


def test_a_replay_that_did_not_help_is_a_dead_end_for_the_next_run_too(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[tuple[str, ...]]:
        await taught(at)
        old = (await known(at)).resolution
        stricter = JUDGE.replace('not text.startswith("42")', 'text != "42!\\n"')
        found = []
        for run_id, more in (("run-2", "more\n"), ("run-3", "more\nand more\n")):
            # around it the file differs, so it is another diff each time that comes of the same patch
            at.github.world.push_commit(NAME, "main", {"judge.py": stricter, "answer.txt": f"41\n{more}"}, "ada")
            state = await go(at, run_id, agents=("history", "command:sh -c 'echo 42! > answer.txt'"))
            assert state.finished is Status.SUCCESS
            found.append(state.agents)
            # the old patch stands again, or the third run would repeat the second's, which helps
            await at.context.stores.history.record(ERROR, old.model_copy(update={"run_id": f"before-{run_id}"}))
        return found

    assert at_desk(work) == [("history", "command"), ("command",)]


def test_what_one_repository_learned_is_neither_told_nor_repeated_in_another(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, list[Any]]:
        await taught(at)
        state = await elsewhere(at, "run-2", agents=("history", MENDS))
        return state, [event.data()["guidance"] for event in await told(at, "run-2", "attempt_started")]

    state, guidance = at_desk(work)
    assert (state.finished, state.agents, guidance) == (Status.SUCCESS, ("command",), [[]])


# ---- what did not help


def test_a_change_that_left_the_error_is_not_tried_again_in_a_later_run(at_desk: AtDesk) -> None:
    """REQ-STOP-006, REQ-RA-311: negative knowledge, with the reason named."""

    async def work(at: Harness) -> tuple[RunState, RunState, str]:
        judged(at)
        at.hands = [Doer([writes("43\n")])]
        first = await go(at, "run-1", max_attempts=1)
        at.hands = [Doer([writes("43\n")])]
        second = await go(at, "run-2")
        (failed,) = await told(at, "run-2", "phase_failed")
        assert isinstance(failed, ImplementationFailed)
        return first, second, english(failed.message)

    first, second, message = at_desk(work)
    assert first.stop is not None and first.stop.reason == "max_iterations"
    assert second.stop is not None and second.stop.reason == SAME_PATCH
    assert (second.made, second.validations) == ((), ())
    assert "tried before against the same error" in message


def test_the_agent_after_the_one_that_repeats_itself_is_asked(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> RunState:
        judged(at)
        at.hands = [Doer([writes("43\n")])]
        await go(at, "run-1", max_attempts=1)
        at.hands = [Doer([writes("43\n")]), Doer([writes("42\n")], name="other")]
        return await go(at, "run-2")

    state = at_desk(work)
    assert (state.finished, state.agents, state.attempt) == (Status.SUCCESS, ("other",), 1)


def test_nor_is_it_tried_again_in_the_same_run(at_desk: AtDesk) -> None:
    """REQ-STOP-006: the same patch again."""

    async def work(at: Harness) -> tuple[RunState, str]:
        judged(at)

        def back(tree: Any) -> None:
            writes("41\n")(tree)
            writes("so\n", "more.txt")(tree)

        at.hands = [Doer([writes("43\n"), back, writes("43\n")])]
        state = await go(at, "run-1", max_attempts=9)
        failed = (await told(at, "run-1", "phase_failed"))[-1]
        assert isinstance(failed, ImplementationFailed)
        return state, english(failed.message)

    state, message = at_desk(work)
    assert state.stop is not None and state.stop.reason == SAME_PATCH
    assert (len(state.validations), state.attempt) == (2, 3)
    assert "tried before in this run" in message


def test_the_same_lines_in_another_place_are_another_change(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> RunState:
        between = "".join(f"line {number}\n" for number in range(20))
        everywhere = JUDGE.replace('not text.startswith("42")', '"41" in text')
        assert everywhere != JUDGE
        judged(at, everywhere, answer__txt=f"x = 41\n{between}x = 41\n")
        half, whole = f"x = 42\n{between}x = 41\n", f"x = 42\n{between}x = 42\n"
        at.hands = [Doer([writes(half), writes(whole)])]
        return await go(at, "run-1")

    state = at_desk(work)
    assert (state.finished, state.attempt, state.stop) == (Status.SUCCESS, 2, None)


def test_in_another_repository_the_same_change_may_help_and_is_tried(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> int:
        judged(at)
        at.hands = [Doer([writes("43\n")])]
        await go(at, "run-1", max_attempts=1)
        at.hands = [Doer([writes("43\n")])]
        return len((await elsewhere(at, "run-2", max_attempts=1)).validations)

    assert at_desk(work) == 1


# ---- guidance


def test_an_attempt_is_told_what_is_known_in_the_repositorys_language_and_without_patches(at_desk: AtDesk) -> None:
    """REQ-RUN-008, REQ-RA-312: each attempt gets the guidance; its event says what it was told."""

    async def work(at: Harness) -> tuple[Any, tuple[str, ...]]:
        await taught(at)
        doer = Doer([writes("42 of it\n")])
        at.hands = [doer]
        await go(at, "run-2", policy={"language": "ko"})
        (started,) = await told(at, "run-2", "attempt_started")
        return started.data()["guidance"], doer.told[0].guidance

    (event,), (sentence,) = at_desk(work)
    assert event["error"] == ERROR and event["resolution"]["run_id"] == "run-1"
    assert event["resolution"]["patch"] is None
    assert sentence.splitlines() == [
        f"💡 전에 해결된 적이 있는 같은 에러: {ERROR}",
        "해결 방법: mendbot[bot] (doer)",
        "이전 해결 경로: Did 1 → python3 judge.py",
    ]


def test_guidance_that_does_not_help_sinks(at_desk: AtDesk) -> None:
    """REQ-RA-311: guidance that was shown and did not lead to a pass loses weight."""

    async def work(at: Harness) -> tuple[KnownError, int, int]:
        await taught(at)
        history = at.context.stores.history
        before = len(await history.by_file("answer.txt", repo=NAME))
        at.hands = [Doer([writes(f"{number}\n") for number in (43, 44, 45)])]
        await go(at, "run-2", max_attempts=3)
        return await known(at), before, len(await history.by_file("answer.txt", repo=NAME))

    found, before, after = at_desk(work)
    assert (found.shown, found.passed) == (3, 0)
    assert (before, after) == (1, 0)


@pytest.mark.parametrize(("on_trial", "told_of"), [(True, 0), (False, 1)])
def test_one_run_in_ten_is_not_briefed_and_its_reports_are(at_desk: AtDesk, on_trial: bool, told_of: int) -> None:
    """REQ-RA-313: the trial withholds guidance from the agent alone, and `guidance_trial: false` ends it."""

    async def work(at: Harness) -> tuple[int, AttemptStarted, RunView, GuidanceTrial, int]:
        await taught(at)
        doer = Doer([writes("43\n")])
        at.hands = [doer]
        state = await go(at, WITHHELD, policy={"guidance_trial": on_trial}, max_attempts=1)
        (started,) = await told(at, WITHHELD, "attempt_started")
        assert isinstance(started, AttemptStarted)
        view = view_of(await at.row(WITHHELD), state)
        figures = await at.context.stores.trials.figures()
        return len(doer.told[0].guidance), started, view, figures, (await known(at)).shown

    assert is_withheld(WITHHELD)
    briefed, started, view, figures, shown = at_desk(work)
    assert (briefed, started.withheld, len(started.guidance), len(view.guidance)) == (told_of, on_trial, 1, 1)
    assert shown == told_of  # what was withheld has not failed
    assert (figures.withheld, figures.withheld_passed, figures.shown) == ((1, 0, 0) if on_trial else (0, 0, 0))


def test_a_briefed_run_counts_in_the_trial_and_a_run_without_a_coding_agent_does_not(at_desk: AtDesk) -> None:
    """REQ-RA-313."""

    async def work(at: Harness) -> GuidanceTrial:
        await taught(at)
        await go(at, "run-2", agents=("history", "command:false"))  # the patch is repeated
        at.hands = [Doer([writes("43\n")])]
        await go(at, "run-3", max_attempts=1)
        return await at.context.stores.trials.figures(NAME)

    figures = at_desk(work)
    assert (figures.shown, figures.shown_passed, figures.withheld) == (1, 0, 0)


def test_guidance_that_runs_without_it_do_better_is_left_out_of_briefs(at_desk: AtDesk) -> None:
    """REQ-RA-313."""

    async def work(at: Harness) -> tuple[int, AttemptStarted]:
        await taught(at)
        one = await known(at)
        tried = (TriedGuidance(id=one.id, use_count=one.use_count),)
        for number in range(40):
            withheld = number < 8
            await at.context.stores.trials.record(f"old-{number}", NAME, tried, withheld=withheld, passed=withheld)
        doer = Doer([writes("42 of it\n")])
        at.hands = [doer]
        await go(at, "run-2")
        (started,) = await told(at, "run-2", "attempt_started")
        assert isinstance(started, AttemptStarted)
        return len(doer.told[0].guidance), started

    briefed, started = at_desk(work)
    assert (briefed, len(started.guidance), started.muted) == (0, 1, (started.guidance[0].id,))
