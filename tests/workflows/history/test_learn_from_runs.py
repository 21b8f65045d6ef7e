"""What a whole run leaves in the error history: proven resolutions, counted once, and nothing that luck or a secret
had a part in."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.config import Policy
from bot.model import AgentTask, KnownError, Phase, Resolution, Status
from bot.reports.history.guidance import guidance_text
from bot.rules.runs.proven_resolutions import ProvenResolution
from bot.rules.runs.state import RunState
from bot.workflows.history.learn_from_runs import change_hash, learn_from_run
from bot.workflows.kernel import settle_run
from bot.workflows.runs.begin_local import begin_local
from bot.workflows.runs.finish import finish, save_work
from bot.workflows.runs.loop import FIX_RUN
from bot.workflows.tampering import weakened_tests_reason
from tests.workflows.conftest import Harness
from tests.workflows.whole_run import ERROR, JUDGE, LUCKY, POLICY, Doer, go, judged, through, writes
from tests.workflows.whole_run import told as events

AtDesk = Callable[..., Any]


async def known(at: Harness, error: str = ERROR) -> KnownError | None:
    return await at.context.stores.history.by_error(error, repo="octo/tiny")


def test_what_made_a_check_pass_is_remembered_with_all_that_proves_it(at_desk: AtDesk) -> None:
    """REQ-RA-311: a fingerprint that the same check no longer shows while passing becomes a resolution with commit,
    diff hash, patch, attempt, pull request and tool sequence; by file name and by text it is found again."""

    async def work(at: Harness) -> tuple[RunState, KnownError, tuple[KnownError, ...], str]:
        judged(at)
        at.hands = [Doer([writes("43\n"), writes("42\n")])]
        state = await go(at, "run-1")
        found = await known(at)
        assert found is not None
        return (
            state,
            found,
            await at.context.stores.history.by_file("docs/answer.txt", repo="octo/tiny"),
            change_hash(await at.row("run-1"), found.resolution.patch or ""),
        )

    state, found, by_file, digest = at_desk(work)
    told = found.resolution
    assert state.finished is Status.SUCCESS and state.pull is not None
    assert (told.commit, told.pull_request, told.run_id) == (state.commit_sha, state.pull.number, "run-1")
    assert (told.attempt, told.tool, told.repo, told.resolved_by) == (2, "doer", "octo/tiny", "mendbot[bot]")
    assert told.patch is not None and "-41\n+42\n" in told.patch, "not the whole way from the tree that showed it"
    assert told.diff_hash == digest
    assert told.tool_sequence == ("Did 2", "python3 judge.py")
    assert told.proof == "proven"
    assert (found.use_count, found.exact) == (1, True)
    assert [one.id for one in by_file] == [found.id]


def test_an_error_is_kept_as_the_check_printed_it_last(at_desk: AtDesk) -> None:
    """REQ-RA-312: people are shown the line, and not the key that finds it again."""
    places = JUDGE.replace(f"print({ERROR!r})", 'print(f"answer.txt:{text.strip()}: error: it is wrong")')

    async def work(at: Harness) -> tuple[KnownError | None, KnownError | None]:
        judged(at, places, answer__txt="4\n")
        at.hands = [Doer([writes("41\n"), writes("42\n")])]
        await go(at, "run-1")
        key = "answer.txt:<POS>: error: it is wrong"
        # said again without the line, the line stays
        await at.context.stores.history.record(key, Resolution(repo="octo/tiny", how="by hand"))
        return await known(at, key), await at.context.stores.history.by_error(key, repo="octo/other")

    found, other = at_desk(work)
    assert found is not None and other is None
    assert (found.use_count, found.raw) == (2, "answer.txt:41: error: it is wrong")
    assert guidance_text(found, "en", matches=True).splitlines()[0].endswith(": answer.txt:41: error: it is wrong")


def test_a_check_that_passed_by_luck_teaches_nothing(at_desk: AtDesk) -> None:
    """REQ-RA-311, REQ-CHECK-007: flaky is not fixed."""

    async def work(at: Harness) -> tuple[Status | None, bool, KnownError | None]:
        judged(at, LUCKY)
        at.hands = [Doer([writes("43\n")])]
        state = await go(at, "run-1")
        return state.finished, state.validations[-1].steps[-1].flaky, await known(at)

    assert at_desk(work) == (Status.SUCCESS, True, None)


MADE = "answer.txt: error: it is odd [odd-answer]"
TWO_ERRORS = f"""import sys
text = open("answer.txt").read()
if text != "42\\n":
    print({ERROR!r} if text == "41\\n" else {MADE!r})
    sys.exit(1)
"""


def test_an_error_that_only_an_attempt_of_the_run_made_is_no_past_error(at_desk: AtDesk) -> None:
    """REQ-RA-311: neither recorded, nor among a file's past errors, nor told as guidance in a later run."""

    async def work(at: Harness) -> tuple[KnownError | None, KnownError | None, list[Any], list[Any], int]:
        judged(at, TWO_ERRORS)
        at.hands = [Doer([writes("43\n"), writes("44\n"), writes("42\n")])]
        assert (await go(at, "run-1")).finished is Status.SUCCESS
        at.hands = [Doer([writes("42\n")])]
        await go(at, "run-2")
        (plan,) = [one for one in await at.runs.artifacts("run-2") if one.phase is Phase.PLANNING]
        (started,) = await events(at, "run-2", "attempt_started")
        errors = [one["error"] for one in plan.data["pastErrors"]]
        told_of = [one["error"] for one in started.data()["guidance"]]
        history = at.context.stores.history
        return await known(at), await known(at, MADE), errors, told_of, len(await history.dead_ends([MADE]))

    own, made, errors, told_of, dead = at_desk(work)
    assert own is not None and own.resolution.attempt == 1, "what run-2 did at its first try"
    assert (made, errors, told_of, dead) == (None, [ERROR], [ERROR], 0)


def test_an_error_of_a_check_that_was_hidden_on_the_base_is_learned(at_desk: AtDesk) -> None:
    """The base says nothing of it, so it is taken for the base's."""

    async def work(at: Harness) -> KnownError | None:
        lint = 'import sys\nsys.exit("bad" in open("answer.txt").read() and "bad.py: error: bad")\n'
        judged(at, lint__py=lint, answer__txt="41 bad\n")
        at.hands = [Doer([writes("41\n"), writes("42\n")])]
        checks = {"lint": {"command": "python3 lint.py"}, "test": {"command": "python3 judge.py"}}
        assert (await go(at, "run-1", policy={"checks": checks})).finished is Status.SUCCESS
        return await known(at)

    found = at_desk(work)
    assert found is not None and found.resolution.attempt == 2


def test_a_session_with_a_base_learns_from_its_first_try_and_the_next_uses_it(at_desk: AtDesk, tmp_path: Path) -> None:
    """REQ-RA-311: what is known is told in attempt 1, and repeated there."""

    async def session(at: Harness, run_id: str, **more: Any) -> RunState:
        tree = tmp_path / "mine"
        tree.mkdir(exist_ok=True)
        writes("41\n")(tree)
        writes(JUDGE, "judge.py")(tree)
        policy = Policy.model_validate(POLICY)
        spec = {"repo": None, "workspace": str(tree), "goal": "Fix it", "baseline": True, "policy": policy, **more}
        await at.run(run_id, **spec)
        return await through(at, run_id)

    async def work(at: Harness) -> tuple[RunState, KnownError | None, AgentTask, RunState]:
        at.hands = [Doer([writes("42\n")])]
        first = await session(at, "run-1")
        found = await at.context.stores.history.by_error(ERROR)
        doer = Doer([writes("42\n# so\n")])
        at.hands = [doer]
        await session(at, "run-2")
        at.hands = []
        return first, found, doer.told[0], await session(at, "run-3", agents=("history",))

    first, found, task, third = at_desk(work)
    assert (first.finished, first.counted) == (Status.SUCCESS, 1)
    assert found is not None and (found.resolution.attempt, found.resolution.run_id) == (1, "run-1")
    assert task.attempt == 1 and any(ERROR in one for one in task.guidance)
    assert (third.finished, third.agents, third.counted) == (Status.SUCCESS, ("history",), 1)


def test_a_run_that_mends_nothing_teaches_nothing(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[Status | None, KnownError | None]:
        judged(at)
        at.hands = [Doer([writes("43\n"), writes("44\n")])]
        return (await go(at, "run-1", max_attempts=2)).finished, await known(at)

    assert at_desk(work) == (Status.FAILED, None)


def test_an_ending_that_is_done_again_counts_once(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, int]:
        judged(at)
        at.hands = [Doer([writes("42\n")])]
        state = await go(at, "run-1")
        await learn_from_run(at.context, await at.row("run-1"), state)
        first = await known(at)
        at.hands = [Doer([writes("42\n# as it should be\n")])]
        await go(at, "run-2")
        second = await known(at)
        assert first is not None and second is not None
        return first.use_count, second.use_count

    assert at_desk(work) == (1, 2)


def test_an_error_that_came_back_is_one_use_however_often_the_ending_is_done(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, int | None]:
        judged(at)
        at.hands = [Doer([writes("42\n")])]
        state = await go(at, "run-1")
        (lesson,) = state.learned
        again = replace(state, learned=(lesson, replace(lesson, attempt=3)))
        row = await at.row("run-1")
        row = row.model_copy(update={"id": "run-9"})
        for _ in range(2):
            await learn_from_run(at.context, row, again)
        found = await known(at)
        assert found is not None
        return found.use_count, found.resolution.attempt

    assert at_desk(work) == (2, 3)  # of two runs


def test_a_patch_that_holds_a_secret_is_not_stored(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[Status | None, KnownError | None]:
        judged(at, answer__txt=f"41 {'w' * 32}\n")
        at.hands = [Doer([writes("42\n")])]
        return (await go(at, "run-1")).finished, await known(at)

    assert at_desk(work) == (Status.SUCCESS, None)


def test_a_changed_file_of_an_odd_name_is_found_by_it(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[int]:
        judged(at)

        def mend(tree: Path) -> None:
            writes("42\n")(tree)
            writes("x\n", "a b/über b/c d.txt")(tree)
            writes("x\n", 'sub/say "hé".txt')(tree)

        at.hands = [Doer([mend])]
        await go(at, "run-1")
        history = at.context.stores.history
        return [len(await history.by_file(name, repo="octo/tiny")) for name in ("c d.txt", 'say "hé".txt', "d.txt")]

    assert at_desk(work) == [1, 1, 0]


def test_a_run_ends_although_its_trees_are_gone(at_desk: AtDesk) -> None:
    """What cannot be learned any more must not keep a run from its end."""

    async def work(at: Harness) -> list[Status]:
        judged(at)
        ended = []
        for run_id, spoil in (("run-1", "objects"), ("run-2", "")):
            at.hands = [Doer([writes("42\n")])]
            state = await go(at, run_id)
            assert state.learned
            shutil.rmtree(at.context.mirror(at.repo) / spoil)
            await learn_from_run(at.context, await at.row(run_id), state)
            ended.append((await at.row(run_id)).status)
            shutil.rmtree(at.context.mirror(at.repo), ignore_errors=True)
        return ended

    assert at_desk(work) == [Status.SUCCESS, Status.SUCCESS]


def test_a_session_whose_end_was_cut_short_comes_to_it_all_the_same(at_desk: AtDesk, tmp_path: Path) -> None:
    """A crash between the clearing of a session's trees and the record of its end."""

    async def work(at: Harness) -> tuple[bool, Status]:
        tree = tmp_path / "mine"
        tree.mkdir()
        writes("42\n", "answer.txt")(tree)
        row = await at.run("run-1", repo=None, workspace=str(tree), goal="mend it")
        await begin_local(at.context, row)
        state = await at.state("run-1")
        await save_work(at.context, row, state, Status.FAILED)
        learned = replace(state, learned=(ProvenResolution("test", "c", (ERROR,), "HEAD", "HEAD", 1),))
        await finish(at.context, row, learned, Status.FAILED, None)
        await settle_run(at.context, FIX_RUN, "run-1")
        return at.context.git_dir(row.id, row.spec).exists(), (await at.row("run-1")).status

    assert at_desk(work) == (False, Status.FAILED)


@pytest.mark.parametrize(
    ("change", "teaches"),
    [
        ({"sum.py": "total = 0\n"}, True),
        ({"test_sum.py": None}, False),
        ({"test_sum.py": "import pytest\n\n\n@pytest.mark.skip\ndef test_sum():\n    assert total() == 0\n"}, False),
        ({"sum.py": "total = 0\n", "pyproject.toml": '[tool.ruff.lint]\nignore = ["F"]\n'}, False),
    ],
)
async def test_a_pass_for_which_tests_or_checks_lost_their_force_teaches_nothing(
    change: dict[str, str | None], teaches: bool, tmp_path: Path
) -> None:
    """REQ-RA-311."""
    first = {
        "sum.py": "total = None\n",
        "test_sum.py": "def test_sum():\n    assert total() == 0\n",
        "pyproject.toml": "[tool.ruff.lint]\nignore = []\n",
    }
    before, after = commits(tmp_path, first, change)
    why = await weakened_tests_reason(tmp_path / ".git", before, after)
    assert (why is None) == teaches, why


def commits(where: Path, *states: dict[str, str | None]) -> list[str]:
    """A commit for each of the states, given as what changes in the files."""

    def git(*args: str) -> str:
        who = ("-c", "user.name=ada", "-c", "user.email=ada@example.com")
        return subprocess.run(
            ("git", *who, *args), cwd=where, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "--quiet")
    made = []
    for state in states:
        for name, text in state.items():
            if text is None:
                (where / name).unlink()
            else:
                (where / name).write_text(text)
        git("add", "--all")
        git("commit", "--quiet", "--message", "x")
        made.append(git("rev-parse", "HEAD"))
    return made
