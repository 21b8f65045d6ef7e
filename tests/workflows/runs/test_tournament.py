"""An attempt that asks for several changes: how they are judged, which one is taken, and what is left of the others."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.agent.protocol import build_prompt
from bot.config import Policy
from bot.model import AgentTask, Proposal, Status, Usage
from bot.model.events.tournament import CandidateChosen
from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason
from bot.rules.runs.state import RunState
from bot.rules.runs.tournament import Tournament
from bot.store.runs.runs import RunRow
from bot.workflows.kernel import settle_run, step_run
from bot.workflows.maintenance.cleanup import sweep
from bot.workflows.runs.loop import FIX_RUN
from bot.workspace.git.command import git
from bot.workspace.worktree.detached import ensure_detached
from tests.workflows.conftest import NAME, Harness
from tests.workflows.runs.proof_world import FAULTY, POLICY, RIGHT, SUITE, SUITE_WITH_TEST, Coder, fix, written
from tests.workflows.whole_run import POLICY as PLAIN
from tests.workflows.whole_run import Doer, go, judged, through, told, writes

AtDesk = Callable[..., Any]


def silent(name: str = "silent") -> Coder:
    """An agent without an answer."""
    return Coder([], name=name)


async def tournament(at: Harness, *hands: Any, candidates: int = 0, **more: Any) -> tuple[RunState, CandidateChosen]:
    """A run with these agents to its end, and what came of the candidates of its last attempt."""
    at.hands = list(hands)
    policy = {"candidates": candidates or len(hands), **more.pop("policy", {})}
    state = await go(at, "run-1", policy=policy, **more)
    return state, list(state.tournaments.values())[-1]


def test_of_the_candidates_that_pass_the_smaller_change_is_taken(at_desk: AtDesk) -> None:
    """REQ-RUN-010: each is made from the same base, so that nothing of the others is in the fix."""

    async def work(at: Harness) -> tuple[RunState, CandidateChosen, str]:
        judged(at)
        large = Doer([writes("42\nand\nmore\n")], name="large")
        bad = Doer([writes("43\n", "litter.txt")], name="bad")
        good = Doer([writes("42\n")], name="good")
        state, chosen = await tournament(at, large, bad, good)
        return state, chosen, (at.github.world.read_file("octo/tiny", state.branch or "", "answer.txt") or b"").decode()

    state, chosen, text = at_desk(work)
    assert (state.finished, state.agents, state.counted) == (Status.SUCCESS, ("good",), 1)
    assert chosen.winner == 3
    assert [(one.agent, one.result, one.lines) for one in chosen.results] == [
        ("large", "passed", 4),
        ("bad", "failed", 1),
        ("good", "passed", 2),
    ]
    assert state.changed_paths == ("answer.txt",)
    assert text == "42\n"


def test_the_level_of_proof_comes_before_the_size(at_desk: AtDesk) -> None:
    """REQ-PROOF-001: a fix with a test that fails without it is preferred to a smaller one that shows nothing."""

    async def work(at: Harness) -> tuple[RunState, CandidateChosen]:
        files = {"shop.py": FAULTY, "tests/__init__.py": "", "tests/test_shop.py": SUITE}
        at.github.world.push_commit(NAME, "main", files, "ada")
        bare = Coder([fix(RIGHT)], name="bare")
        shown = Coder([fix(RIGHT, **written(SUITE_WITH_TEST))], name="shown")
        return await tournament(at, bare, shown, policy=POLICY)

    state, chosen = at_desk(work)
    assert [(one.agent, one.proof) for one in chosen.results] == [("bare", "unproven"), ("shown", "proven")]
    assert (state.finished, chosen.winner) == (Status.SUCCESS, 2)
    assert state.proof is not None and state.proof.level == "proven"


TWO = """import pathlib, sys
wrong = [name for name in ("a", "b", "c") if pathlib.Path(name + ".txt").read_text() != "right\\n"]
for name in wrong:
    print(f"{name}.txt: error: {name} is wrong [wrong-{name}]")
sys.exit(bool(wrong))
"""


def test_where_none_passes_the_one_with_the_fewest_errors_goes_on(at_desk: AtDesk) -> None:
    """The next attempt starts from it."""

    async def work(at: Harness) -> tuple[RunState, CandidateChosen, CandidateChosen]:
        judged(at, TWO, a__txt="wrong\n", b__txt="wrong\n", c__txt="right\n")
        worse = Doer([both("right\n", "right\n", "broken\n"), writes("no\n", "litter.txt")], name="worse")
        better = Doer([writes("right\n", "a.txt"), writes("right\n", "b.txt")], name="better")
        state, last = await tournament(at, worse, better, max_attempts=2)
        return state, state.tournaments[1], last

    state, first, last = at_desk(work)
    assert [(one.agent, one.remaining, one.introduced) for one in first.results] == [("worse", 0, 1), ("better", 1, 0)]
    assert first.winner == 2, "one open error each, but this one is not new"
    assert (state.finished, state.counted, last.winner) == (Status.SUCCESS, 2, 2)
    assert state.changed_paths == ("a.txt", "b.txt")


def both(*texts: str) -> Callable[[Path], None]:
    def edit(tree: Path) -> None:
        for name, text in zip("abc", texts, strict=False):
            (tree / f"{name}.txt").write_text(text)

    return edit


def test_agents_without_an_answer_do_not_end_the_attempt_and_are_not_asked_again(at_desk: AtDesk) -> None:
    """REQ-RUN-008."""

    async def work(at: Harness) -> tuple[RunState, CandidateChosen, list[Any]]:
        judged(at)
        good = Doer([writes("42\n"), writes("42\nmore\n")], name="good")
        state, chosen = await tournament(at, silent(), good, candidates=3)
        asked = [(one.data()["agent"], one.data()["candidate"]) for one in await told(at, "run-1", "agent_started")]
        return state, chosen, asked

    state, chosen, asked = at_desk(work)
    assert asked == [("silent", 1), ("good", 2), ("good", 3)]
    assert [one.result for one in chosen.results] == ["none", "passed", "passed"]
    assert (state.finished, chosen.winner, state.counted) == (Status.SUCCESS, 2, 1)


def test_the_same_change_is_judged_once(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[CandidateChosen, int]:
        judged(at)
        hands = [Doer([writes(text)], name=name) for name, text in (("a", "43\n"), ("b", "43\n"), ("c", "42\n"))]
        _, chosen = await tournament(at, *hands)
        return chosen, len(await told(at, "run-1", "candidate_event"))

    chosen, _ = at_desk(work)
    assert [(one.result, one.same_as) for one in chosen.results] == [("failed", None), ("same", 1), ("passed", None)]
    assert chosen.winner == 3


def test_without_any_change_the_run_ends_with_all_reasons(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, CandidateChosen]:
        judged(at)
        return await tournament(at, silent("one"), silent("two"))

    state, chosen = at_desk(work)
    assert state.stop is not None
    assert (state.stop.reason, state.counted, chosen.winner) == ("nothing_to_offer", 1, None)
    assert "`one`: " in english(state.stop.details) and "`two`: " in english(state.stop.details)


def test_fixers_and_history_are_asked_first_and_alone(at_desk: AtDesk) -> None:
    """REQ-RUN-008: where they solve it nobody else is paid."""

    async def work(at: Harness) -> tuple[RunState, int]:
        judged(at)
        paid = Doer([writes("42\n")], name="paid")
        at.hands = [Doer([writes("42\n")], name="history"), paid]
        return await go(at, "run-1", policy={"candidates": 3}), len(paid.told)

    state, asked = at_desk(work)
    assert (state.finished, state.agents, asked) == (Status.SUCCESS, ("history",), 0)
    assert state.tournaments == {}


def test_each_candidate_has_a_worktree_of_its_own_that_is_removed(at_desk: AtDesk) -> None:
    """REQ-RUN-010: what one leaves, ignored files too, another does not see. A run still has one slot."""

    async def work(at: Harness) -> tuple[list[list[str]], set[str], list[str], list[str]]:
        judged(at)
        seen, trees = list[list[str]](), set[str]()

        def deed(text: str) -> Callable[[Path], None]:
            def edit(tree: Path) -> None:
                trees.add(tree.name)
                seen.append(sorted(path.name for path in tree.parent.iterdir()))
                assert not (tree / "ignored.txt").exists()
                writes("left\n", "ignored.txt")(tree)
                writes(text)(tree)

            return edit

        at.hands = [Doer([deed("42\nmore\n"), deed("42\n"), deed("41\nx\n")], name="doer")]
        run = {"candidates": 3, "max_worktrees": 1}
        state = await go(at, "run-1", policy=run)
        assert state.finished is Status.SUCCESS
        home = at.context.settings.home
        left = sorted(path.name for path in home.glob("worktrees/*/*/*"))
        refs = await git("for-each-ref", "--format=%(refname)", git_dir=at.context.mirror(at.repo))
        return seen, trees, left, [ref for ref in refs.decode().split() if "run-1" in ref]

    seen, trees, left, refs = at_desk(work)
    assert trees == {"candidate-1", "candidate-2", "candidate-3"}
    assert [len(names) for names in seen] == [2, 2, 2], "the run's own and one more"
    assert left == []
    assert refs == [f"refs/mendbot/runs/run-1/1-c{number}" for number in (1, 2, 3)]


def test_a_commit_of_an_agent_is_taken_back_in_its_own_tree(at_desk: AtDesk) -> None:
    def commits(tree: Path) -> None:
        writes("42\n")(tree)
        author = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *author, "commit", "-qam", "mine"], cwd=tree, check=True)

    async def work(at: Harness) -> tuple[RunState, CandidateChosen]:
        judged(at)
        return await tournament(at, Doer([commits], name="a"), Doer([writes("43\n")], name="b"))

    state, chosen = at_desk(work)
    assert (state.finished, chosen.winner) == (Status.SUCCESS, 1)


def test_the_usage_of_the_attempt_is_that_of_all_candidates(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, CandidateChosen]:
        judged(at)
        return await tournament(at, Priced("42\n"), Priced("43\n"))

    state, chosen = at_desk(work)
    used = [one.usage for one in chosen.results if one.usage is not None]
    assert [(one.input_tokens, one.cost_usd) for one in used] == [(10, 0.25)] * 2
    assert state.usage == state.usage_of(1) == sum(used[1:], used[0])


@dataclass(frozen=True, slots=True)
class Priced:
    """An agent whose program names the cost."""

    text: str
    name: str = "priced"

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        writes(self.text)(tree)
        usage = Usage(input_tokens=10, cost_usd=0.25)
        return Proposal(agent=self.name, offered=True, edited_in_place=True, usage=usage)


def test_each_candidate_is_asked_for_another_approach(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[str]:
        judged(at)
        doer = Doer([writes("43\n"), writes("42\n")])
        await tournament(at, doer, candidates=2)
        return [build_prompt(task) for task in doer.told]

    first, second = at_desk(work)
    assert "change 1 of 2" in first and "change 2 of 2" in second
    assert first.split("change 1 of 2")[1] != second.split("change 2 of 2")[1]


async def steps(at: Harness, until: Callable[[RunState], bool]) -> RunState:
    """The run, step by step, until its state is such."""
    while not until(state := await at.state("run-1")):
        assert not (await step_run(at.context, FIX_RUN, "run-1")).done
    return state


async def begin(at: Harness, *hands: Any) -> None:
    at.hands = list(hands)
    await at.run("run-1", at.issue(), policy=Policy.model_validate({**PLAIN, "candidates": len(hands)}))


def one_is_judged(state: RunState) -> bool:
    return state.tournament is not None and state.tournament.present is not None and not _open(state.tournament)


def _open(tournament: Tournament) -> bool:
    present = tournament.present
    return present is None or present.state is None or present.state.proof is None


def test_a_process_that_dies_asks_the_present_candidate_again_and_no_other(at_desk: AtDesk) -> None:
    """REQ-RUN-010: the second agent ends with its process and leaves half a change; the first is not asked again."""

    async def work(at: Harness) -> tuple[RunState, list[int], list[Any]]:
        judged(at)
        first, second = Doer([writes("42\nmore\n")], name="first"), Dying("42\n")
        await begin(at, first, second)
        await steps(at, one_is_judged)
        checks = await told(at, "run-1", "candidate_event")
        with pytest.raises(KilledError):
            await step_run(at.context, FIX_RUN, "run-1")
        assert [path.name for path in at.context.tree_path(await at.row("run-1")).parent.glob("candidate-*")]
        state = await through(at, "run-1")
        again = await told(at, "run-1", "candidate_event")
        return state, [len(first.told), second.asked], [again[: len(checks)] == checks, state.tournaments[1].winner]

    state, asked, (unchanged, winner) = at_desk(work)
    assert (state.finished, asked, unchanged, winner) == (Status.SUCCESS, [1, 2], True, 2)
    assert state.changed_paths == ("answer.txt",), "nothing of the half change is left"


class KilledError(BaseException):
    """The process ends here."""


@dataclass(slots=True)
class Dying:
    """An agent in whose first turn the process dies."""

    text: str
    name: str = "dying"
    asked: int = 0

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        self.asked += 1
        if self.asked == 1:
            writes("half\n", "half.txt")(tree)
            writes("half\n", "ignored.txt")(tree)
            raise KilledError
        assert not (tree / "half.txt").exists() and not (tree / "ignored.txt").exists()
        writes(self.text)(tree)
        return Proposal(agent=self.name, offered=True, edited_in_place=True)


def test_a_run_that_is_cancelled_among_candidates_leaves_no_tree(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, list[str]]:
        judged(at)
        await begin(at, Doer([writes("42\n")], name="a"), Doer([writes("42\n\n")], name="b"))
        await steps(at, one_is_judged)
        row = await at.row("run-1")
        assert await at.runs.request_cancel("run-1", make_reason("stop.asked"))
        await settle_run(at.context, FIX_RUN, "run-1")
        home = at.context.settings.home
        assert context_tree(at, row).name.startswith("fix-issue")
        return await at.state("run-1"), [path.name for path in home.glob("worktrees/*/*/*/*")]

    state, left = at_desk(work)
    assert (state.finished, left) == (Status.CANCELLED, [])


def test_the_tree_of_a_candidate_that_a_crash_left_is_swept(at_desk: AtDesk) -> None:
    """Its change has a ref of its own, so nothing of it is saved as unfinished work."""

    async def work(at: Harness) -> tuple[int, bool, bytes]:
        judged(at)
        state, _ = await tournament(at, Doer([writes("42\n")], name="a"), Doer([writes("43\n")], name="b"))
        assert state.finished is Status.SUCCESS and state.base_sha is not None
        mirror, path = at.context.mirror(at.repo), context_tree(at, await at.row("run-1")).parent / "candidate-1"
        writes("half\n")((await ensure_detached(mirror, path, state.base_sha)).path)
        removed = await sweep(at.context)
        return removed, path.parent.exists(), await git("for-each-ref", "refs/mendbot/salvage", git_dir=mirror)

    assert at_desk(work) == (1, False, b"")


def context_tree(at: Harness, row: RunRow) -> Path:
    return at.context.tree_path(row)
