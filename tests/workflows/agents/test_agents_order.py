"""In one attempt the agents are asked in order until one has a change to try: what is refused, known or nothing new is
passed over at no cost, and the attempt has failed only where nobody is left."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.model import AgentTask, Issue, Proposal, Status, Usage
from bot.model.events.phases import ImplementationFailed
from bot.reports.locale.reasons import english
from bot.rules.runs.state import RunState
from bot.workspace.git.diff import changed
from tests.workflows.conftest import Harness
from tests.workflows.whole_run import NAME, Doer, go, judged, told, writes

AtDesk = Callable[..., Any]
DAMAGED = """command:echo '{"changes": [{"path": "answer.txt", "patch": "@@ -1 +1 @@\\n-70\\n+42\\n"}]}'"""
FIXES = "command:sh -c 'echo 42 > answer.txt'"


def protected(tree: Path) -> None:
    """The right file and two that no agent may touch."""
    writes("42\n")(tree)
    writes("on: push\n", ".github/workflows/ci.yml")(tree)
    writes("{}\n", "package-lock.json")(tree)


async def failures(at: Harness, run_id: str = "run-1") -> list[ImplementationFailed]:
    return [event for event in await told(at, run_id, "phase_failed") if isinstance(event, ImplementationFailed)]


def test_after_a_refused_change_the_next_agent_is_asked_in_the_same_attempt(at_desk: AtDesk) -> None:
    """REQ-RUN-008."""

    async def work(at: Harness) -> tuple[RunState, int, list[str]]:
        judged(at)
        at.hands = [Doer([protected], name="greedy"), Doer([writes("42\n")], name="careful")]
        state = await go(at, "run-1", max_attempts=1)
        return state, len(await failures(at)), [e.data()["agent"] for e in await told(at, "run-1", "agent_started")]

    state, failed, asked = at_desk(work)
    assert (state.finished, state.agents, state.counted, failed) == (Status.SUCCESS, ("careful",), 1, 0)
    assert asked == ["greedy", "careful"]
    assert state.changed_paths == ("answer.txt",), "nothing of the refused change is left"


def test_a_second_command_is_asked_after_one_with_a_damaged_diff(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, list[str]]:
        judged(at)
        state = await go(at, "run-1", agents=(DAMAGED, FIXES), max_attempts=1)
        return state, [event.data()["agent"] for event in await told(at, "run-1", "agent_started")]

    state, asked = at_desk(work)
    assert (state.finished, state.agents, state.counted) == (Status.SUCCESS, ("command",), 1)
    assert asked == ["command", "command"]


def test_an_agent_whose_refused_change_another_replaced_hears_of_it_in_the_next_attempt(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, AgentTask]:
        judged(at)
        greedy = Doer([protected, writes("42\n")], name="greedy")
        at.hands = [greedy, Doer([writes("43\n")], name="careful")]
        return await go(at, "run-1", max_attempts=2), greedy.told[1]

    state, task = at_desk(work)
    assert (state.finished, state.agents) == (Status.SUCCESS, ("careful", "greedy"))
    (heard,) = [one for one in task.guidance if "not applied" in one]
    assert "`greedy`: " in heard and "'.github/workflows/ci.yml'" in heard and "'package-lock.json'" in heard


def test_with_nobody_left_the_attempt_has_failed_with_all_reasons(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, ImplementationFailed, tuple[str, ...]]:
        judged(at)
        second = Doer([protected, writes("42\n")], name="second")
        at.hands = [Doer([protected], name="first"), second]
        state = await go(at, "run-1", max_attempts=2)
        (failed,) = await failures(at)
        return state, failed, second.told[1].guidance

    state, failed, heard = at_desk(work)
    assert (state.finished, state.counted, state.agents) == (Status.SUCCESS, 2, ("second",))
    message = english(failed.message)
    assert "`first`: " in message and "`second`: " in message
    assert any(message in one for one in heard)


def test_a_damaged_diff_costs_the_coding_agent_an_attempt_and_its_reason_is_told(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, ImplementationFailed]:
        judged(at)
        state = await go(at, "run-1", agents=("fixers", "history", DAMAGED), max_attempts=2)
        return state, (await failures(at))[0]

    state, failed = at_desk(work)
    assert (state.finished, state.counted) == (Status.FAILED, 2)
    assert state.stop is not None and state.stop.reason == "max_iterations"
    assert english(failed.message).startswith("`command`: answer.txt: ")
    assert "fixers" not in english(failed.message), "who has nothing to offer is no reason"


def test_agents_that_only_repeat_themselves_end_the_run(at_desk: AtDesk) -> None:
    """REQ-STOP-006: the loop ends, however many attempts are left."""

    async def work(at: Harness) -> RunState:
        judged(at)
        at.hands = [Doer([writes("43\n")], name="first"), Doer([writes("43\n")], name="second")]
        return await go(at, "run-1", max_attempts=9, policy={"max_attempts": 9})

    state = at_desk(work)
    assert state.stop is not None
    assert (state.stop.reason, len(state.made)) == ("nothing_to_offer", 1)


# ---- what is known and does not help


async def taught(at: Harness, answer: str = "42\n") -> None:
    """A run whose change made the error go away."""
    judged(at)
    at.hands = [Doer([writes(answer)])]
    assert (await go(at, "taught")).finished is Status.SUCCESS
    at.hands = []


STRICTER = """import sys
if open("answer.txt").read().split()[0] != "42!":
    print("answer.txt: error: the answer is wrong [wrong-answer]")
    sys.exit(1)
"""
OTHERWISE = STRICTER.replace("if open", 'if open("answer.txt").read() == "42\\n":\n    sys.exit("error: odd")\nif open')
"""Shows another error after the replay."""


def test_the_coding_agent_is_asked_after_a_replay_that_does_not_help_in_the_same_attempt(at_desk: AtDesk) -> None:
    """REQ-RUN-008: what the replay did is undone, so that the pull request holds the right change alone."""

    async def work(at: Harness) -> tuple[RunState, list[Any]]:
        await taught(at, "42\n")
        at.github.world.push_commit("octo/tiny", "main", {"judge.py": STRICTER}, "ada")
        fixes = "command:sh -c 'echo 42! > answer.txt'"
        state = await go(at, "run-1", agents=("fixers", "history", fixes), max_attempts=1)
        return state, [event.data()["attempt"] for event in await told(at, "run-1", "attempt_started")]

    state, numbers = at_desk(work)
    assert (state.finished, state.agents, numbers) == (Status.SUCCESS, ("history", "command"), [1, 1])
    assert state.counted == 1
    assert state.made[1].before == state.made[0].before, "the agent starts from the tree before the replay"
    assert state.changed_paths == ("answer.txt",)


def test_a_replay_that_is_tried_and_undone_does_not_lead_in_a_circle(at_desk: AtDesk) -> None:
    """REQ-STOP-006: the coding agent has all its attempts, though the replay showed another error in between."""

    async def work(at: Harness) -> RunState:
        await taught(at, "42\n")
        at.github.world.push_commit("octo/tiny", "main", {"judge.py": OTHERWISE}, "ada")
        agent = "command:sh -c 'test -f one.txt && echo 42! > answer.txt; date > one.txt'"
        return await go(at, "run-1", agents=("history", agent), max_attempts=2)

    state = at_desk(work)
    assert (state.finished, state.agents, state.counted) == (Status.SUCCESS, ("history", "command", "command"), 2)


# ---- what only lays files out otherwise

UNTIDY = {
    "src/app.py": "def f(a,b):\n  return {'a':a,'b':b}\n",
    "README.md": "* one\n* two\n",
    "docs/guide.md": "Title\n=====\n* item\n",
}
FORMAT = """import pathlib
pathlib.Path("src/app.py").write_text('def f(a, b):\\n    return {"a": a, "b": b}\\n')
pathlib.Path("README.md").write_text("- one\\n- two\\n")
pathlib.Path("docs/guide.md").write_text("# Title\\n\\n- item\\n")
"""


def untidy(at: Harness) -> None:
    judged(at)
    at.github.world.push_commit("octo/tiny", "main", {**UNTIDY, "format.py": FORMAT}, "ada")


def formats(tree: Path) -> None:
    (tree / "src/app.py").write_text('def f(a, b):\n    return {"a": a, "b": b}\n')
    (tree / "README.md").write_text("- one\n- two\n")


def formats_and_fixes(tree: Path) -> None:
    formats(tree)
    writes("42\n")(tree)


async def pushed(at: Harness, state: RunState) -> list[str]:
    """The paths of the pushed commit."""
    assert state.base_sha and state.commit_sha
    return [one.path for one in await changed(at.context.mirror(at.repo), state.base_sha, state.commit_sha)]


def test_an_agent_that_only_reformats_is_passed_over_while_tests_fail(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, list[str], AgentTask]:
        untidy(at)
        coder = Doer([writes("43\n"), writes("42\n")], name="coder")
        at.hands = [Doer([formats], name="formatter"), coder]
        state = await go(at, "run-1", max_attempts=2)
        return state, await pushed(at, state), coder.told[1]

    state, paths, task = at_desk(work)
    assert (state.finished, state.agents) == (Status.SUCCESS, ("coder", "coder"))
    assert paths == ["answer.txt"]
    assert any("it only reformats README.md, src/app.py" in one for one in task.guidance)


def test_what_a_coding_agent_reformats_beside_its_fix_is_undone_and_said(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, list[str]]:
        untidy(at)
        at.hands = [Doer([formats_and_fixes])]
        state = await go(at, "run-1")
        return state, await pushed(at, state)

    state, paths = at_desk(work)
    assert (state.finished, paths) == (Status.SUCCESS, ["answer.txt"])
    (note,) = state.notes
    assert "README.md, src/app.py" in english(note)


def test_a_file_that_the_task_names_may_be_reformatted(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[str]:
        untidy(at)
        at.hands = [Doer([formats_and_fixes])]
        asked = (Issue(number=at.issue(), title="It is wrong", body="answer.txt, and lay out README.md"),)
        return await pushed(at, await go(at, "run-1", issues=asked))

    assert at_desk(work) == ["README.md", "answer.txt"]


def test_in_a_run_whose_tests_fail_the_projects_formatter_changes_nothing(at_desk: AtDesk) -> None:
    """The pull request holds the right change and no other, whatever the project's fixers would do."""

    async def work(at: Harness) -> tuple[RunState, list[str], list[str]]:
        untidy(at)
        policy = {"fixers": ["python3 format.py"]}
        state = await go(at, "run-1", agents=("fixers", "history", FIXES), policy=policy)
        log = [event.data()["agent"] for event in await told(at, "run-1", "changes_applied")]
        return state, log, await pushed(at, state)

    state, applied, paths = at_desk(work)
    assert (state.finished, applied, paths) == (Status.SUCCESS, ["command"], ["answer.txt"])


def test_a_change_that_keeps_the_old_time_of_its_file_is_judged_by_itself_and_not_by_what_was_built_before(
    at_desk: AtDesk,
) -> None:
    """make and Cargo build what is newer than its product; a copied file may bring an older time along."""

    def copied(tree: Path) -> None:
        writes("42\n")(tree)
        os.utime(tree / "answer.txt", (1, 1))

    async def work(at: Harness) -> RunState:
        at.github.world.push_commit(
            NAME, "main", {"Makefile": "built: answer.txt\n\tcp answer.txt built\n", ".gitignore": "built\n"}, "ada"
        )
        at.hands = [Doer([copied], name="copier")]
        return await go(at, "run-1", max_attempts=1, validation_commands=("make -s built && grep -qx 42 built",))

    state = at_desk(work)
    assert state.finished is Status.SUCCESS


class Counting(Doer):
    """An agent whose program counts tokens."""

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        usage = Usage(input_tokens=100, output_tokens=10, cost_usd=0.01)
        return (await super().propose(task, tree)).model_copy(update={"usage": usage})


def test_the_tokens_of_all_agents_of_an_attempt_are_counted(at_desk: AtDesk) -> None:
    """REQ-RUN-008: also those of an agent whose change is refused."""

    async def work(at: Harness) -> tuple[RunState, list[Any], list[Any]]:
        judged(at)
        at.hands = [Counting([protected], name="greedy"), Counting([writes("42\n")], name="b")]
        state = await go(at, "run-1", max_attempts=1)
        applied = [event.data()["usage"]["inputTokens"] for event in await told(at, "run-1", "changes_applied")]
        return state, applied, [event.data() for event in await told(at, "run-1", "agent_ended")]

    state, tokens, ended = at_desk(work)
    assert (state.finished, tokens) == (Status.SUCCESS, [200])
    assert [(each["agent"], each["usage"]["inputTokens"]) for each in ended] == [("greedy", 100), ("b", 100)]
    used = state.usage_of(1)
    assert used == state.usage and used is not None
    assert used.model_copy(update={"duration_ms": 0}) == Usage(input_tokens=200, output_tokens=20, cost_usd=0.02)
    assert used.duration_ms == sum(each["usage"]["durationMs"] for each in ended)
