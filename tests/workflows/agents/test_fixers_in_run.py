"""The fixers' turn in a run: it costs no attempt, and only what makes the lint check pass stays for the next agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.model import Issue, RunView, Status
from bot.rules.runs.state import RunState
from bot.workflows.reporting.run_view import view_of
from bot.workspace.git.diff import changed
from tests.workflows.conftest import Harness
from tests.workflows.whole_run import LUCKY, Doer, go, judged, told, writes

AtDesk = Callable[..., Any]
LINT = """import pathlib, sys
wrong = [path for path in sorted(pathlib.Path("src").glob("*.py")) if "bad" in path.read_text()]
for path in wrong:
    print(f"{path}:1:1: E001 it is bad")
sys.exit(bool(wrong))
"""
FIXER = """import pathlib
for path in pathlib.Path("src").glob("*.py"):
    path.write_text(path.read_text().replace("bad", "good") + "# styled\\n")
"""
"""Fixes what lint complains of, and restyles every file."""
ISSUES = (Issue(number=1, title="The answer is wrong"),)
"""No file is named, so that any with findings may be fixed."""
LINT_TOO = (Issue(number=1, title="The answer is wrong, and lint fails"),)
"""Else the base's findings are left alone."""

MEND = "command:sh -c 'echo 42 > answer.txt'"
CHECKS = {"lint": {"command": "python3 lint.py"}, "test": {"command": "python3 judge.py"}}


def linted(at: Harness, **sources: str) -> None:
    judged(at, lint__py=LINT, fixer__py=FIXER)
    at.github.world.push_commit("octo/tiny", "main", {f"src/{name}.py": text for name, text in sources.items()}, "ada")


async def run(
    at: Harness, *agents: str, fixer: str = "python3 fixer.py", attempts: int = 1
) -> tuple[RunState, RunView]:
    policy = {"checks": CHECKS, "fixers": [fixer]}
    state = await go(at, "run-1", policy=policy, agents=agents, max_attempts=attempts, issues=LINT_TOO)
    return state, view_of(await at.row("run-1"), state)


async def written(at: Harness, state: RunState) -> dict[str, str]:
    """What the pushed commit changed: path to text."""
    assert state.base_sha and state.commit_sha
    paths = await changed(at.context.mirror(at.repo), state.base_sha, state.commit_sha)
    read = at.github.world.read_file
    return {one.path: (read("octo/tiny", state.commit_sha, one.path) or b"").decode() for one in paths}


def test_the_next_agent_goes_on_top_in_the_same_attempt(at_desk: AtDesk) -> None:
    """REQ-RUN-008."""

    async def work(at: Harness) -> tuple[RunState, RunView, dict[str, str], list[int]]:
        linted(at, a="bad\n", b="fine\n")
        state, view = await run(at, "fixers", MEND)
        numbers = [event.data()["attempt"] for event in await told(at, "run-1", "attempt_started")]
        return state, view, await written(at, state), numbers

    state, view, files, numbers = at_desk(work)
    assert state.finished is Status.SUCCESS
    assert state.agents == ("fixers", "command")
    assert (view.attempt, view.max_attempts, numbers) == (1, 1, [1, 1])
    assert view.proof is not None and view.proof.level == "proven"
    assert files == {"answer.txt": "42\n", "src/a.py": "good\n# styled\n"}, "b.py had no finding"


def test_what_does_not_make_lint_pass_rides_along_with_nobody(at_desk: AtDesk) -> None:
    """The agent's own change passes lint too; of the fixers' half there is nothing in it."""

    async def work(at: Harness) -> tuple[RunState, dict[str, str]]:
        linted(at, a="bad\n", b="bad\n")
        half = "python3 -c \"import pathlib; pathlib.Path('src/a.py').write_text('styled by half')\""
        mend = "command:sh -c 'echo 42 > answer.txt; echo ok > src/b.py; sed -i s/bad/ok/ src/a.py'"
        state, _ = await run(at, "fixers", mend, fixer=half)
        return state, await written(at, state)

    state, files = at_desk(work)
    assert state.finished is Status.SUCCESS
    assert state.agents[0] == "fixers", "they had their turn"
    assert files == {"answer.txt": "42\n", "src/a.py": "ok\n", "src/b.py": "ok\n"}


def test_fixers_have_one_turn_for_one_state_of_the_tree(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunState, int]:
        linted(at, a="bad\n")
        half = "python3 -c \"import pathlib; open('src/a.py', 'a').write('bad again')\""
        state, _ = await run(at, "fixers", fixer=half, attempts=3)
        return state, len(await told(at, "run-1", "changes_applied"))

    state, changes = at_desk(work)
    assert state.stop is not None
    assert (state.finished, state.stop.reason, changes) == (Status.FAILED, "nothing_to_offer", 1)
    assert state.changed_paths == ()


def test_what_an_agent_leaves_to_lint_is_fixed_in_its_own_files_alone(at_desk: AtDesk) -> None:
    """The one attempt is the agent's; fixers come after it where there is another."""
    one = at_desk(lambda at: _left_to_lint(at, "run-1", 1))
    assert (one.finished, one.agents) == (Status.FAILED, ("command",))
    two = at_desk(lambda at: _left_to_lint(at, "run-2", 2))
    assert (two.finished, two.agents) == (Status.SUCCESS, ("command", "fixers"))
    assert two.changed_paths == ("answer.txt", "src/a.py")


LEAVES = "command:sh -c 'echo 42 > answer.txt; echo bad > src/a.py'"


async def _left_to_lint(at: Harness, run_id: str, attempts: int) -> RunState:
    linted(at, a="fine\n", b="fine\n")
    policy = {"checks": CHECKS, "fixers": ["python3 fixer.py"]}
    return await go(at, run_id, policy=policy, agents=("fixers", LEAVES), max_attempts=attempts, issues=ISSUES)


def test_a_pass_by_luck_is_no_fix(at_desk: AtDesk) -> None:
    """REQ-CHECK-007."""

    async def work(at: Harness) -> RunState:
        judged(at, judge=LUCKY)
        at.hands = [Doer([writes("41 too\n")])]
        return await go(at, "run-1")

    proof = at_desk(work).proof
    assert (proof.level, proof.because) == ("unproven", "luck")
