"""What a merged pull request teaches: which commit has it from now on, and what it fixed that a run of ours could not
(REQ-RA-311)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.model import Validation, ValidationStep
from bot.rules.grouping.references import closes
from bot.rules.runs.state import RunState
from bot.rules.stop.trajectory import TrajectoryState
from bot.workflows.history.learn_from_people import learn_from_merge, unfixed
from bot.workspace.mirror.mirror import resolve
from demo.standin.server import StandIn
from tests.workflows.conftest import NAME
from tests.workflows.history.fixed_by_people import BROKEN, MENDED, known, mended
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot
from tests.workflows.whole_run import Doer, go, writes


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    github.world.create_user("bea")
    return with_bot(github, tmp_path)


async def _kept_heads(bot: RunningBot, *shas: str) -> list[bool]:
    mirror = bot.at.context.mirror(bot.at.repo)
    return [await resolve(mirror, f"refs/mendbot/heads/{sha}") is not None for sha in shas]


def test_a_merged_pull_request_is_found_by_its_merge_commit_and_lets_its_heads_go(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, red, green = await mended(bot)
        assert await _kept_heads(bot, red, green) == [True, True]
        merged = bot.world.merge_pull(NAME, number, "ada")
        await bot.quiet()
        found = await known(bot)
        assert found is not None
        assert (found.resolution.commit, found.resolution.pull_request) == (merged, number)
        assert (found.resolution.author, found.resolution.tool) == ("bea", "push")
        assert (found.resolution.proof, found.resolution.merged) == (None, True)
        assert found.resolution.patch
        assert await _kept_heads(bot, red, green) == [False, False]
        assert await resolve(bot.at.context.mirror(bot.at.repo), f"refs/mendbot/pulls/{number}") is None

    do(work)


def test_a_merged_pull_request_that_is_looked_at_again_takes_nothing_back(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        first, _, _ = await mended(bot)
        bot.world.merge_pull(NAME, first, "ada")
        await bot.quiet()
        second, _, green = await mended(bot, branch="other")
        before = await known(bot)
        assert before is not None
        assert (before.resolution.pull_request, before.resolution.commit) == (second, green)
        pull = await bot.at.context.github.repository(bot.at.repo).pull(first)
        assert pull.merged
        await learn_from_merge(bot.at.context, bot.at.repo, pull)
        assert await known(bot) == before

    do(work)


async def _given_up(bot: RunningBot, **more: Any) -> int:
    """An issue whose run failed; its number."""
    bot.at.hands = [Doer([writes("still nothing\n", "notes.txt")])]
    policy = {"checks": {"test": {"command": "python3 test.py"}}}
    state = await go(bot.at, "run-1", policy=policy, max_attempts=1, **more)
    assert state.finished == "failed"
    (issue,) = (await bot.at.row("run-1")).spec.issues
    return issue.number


async def _closed_by(bot: RunningBot, body: str, files: dict[str, Any], **changes: Any) -> tuple[int, str, str]:
    """A person's merged pull request with that body: its number, head and merge commit."""
    number, sha = bot.open(files, branch="by-hand", by="ada")
    await bot.quiet()
    bot.deaf = True
    merged = bot.world.merge_pull(NAME, number, "ada")
    context = bot.at.context
    pull = await context.github.repository(bot.at.repo).pull(number)
    for _ in range(2):  # looked at again, it is nothing
        await learn_from_merge(context, bot.at.repo, pull.model_copy(update={"body": body, **changes}))
    return number, sha, merged


def test_what_a_run_could_not_mend_is_learned_from_the_pull_request_that_closes_its_issue(do: WithBot) -> None:
    """REQ-RA-311."""

    async def work(bot: RunningBot) -> None:
        bot.furnish(BROKEN)
        issue = await _given_up(bot)
        number, sha, merged = await _closed_by(bot, f"Closes #{issue}.", MENDED)
        assert bot.conclusions(sha)["test"] == "success"
        found = await known(bot)
        assert found is not None
        told = found.resolution
        assert (told.commit, told.pull_request, told.author, told.tool) == (merged, number, "ada", "merge")
        assert (told.proof, told.merged) == (None, True)
        assert "-it is broken\n" in (told.patch or "")
        assert told.tool_sequence[0] == "Edit wrong.txt"
        assert told.tool_sequence[-1].endswith("python3 test.py")
        assert found.use_count == 1

    do(work)


@pytest.mark.parametrize("case", ["names it only", "its check fails", "by ourselves"])
def test_a_merged_pull_request_that_proves_nothing_for_the_issue_teaches_nothing(do: WithBot, case: str) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish(BROKEN)
        issue = await _given_up(bot)
        body = f"About #{issue}" if case == "names it only" else f"Fixes #{issue}"
        files: dict[str, Any] = {"README.md": "x\n"} if case == "its check fails" else dict(MENDED)
        own = (await bot.at.context.github.app_identity()).login
        await _closed_by(bot, body, files, **({"author": own} if case == "by ourselves" else {}))
        assert await known(bot) is None

    do(work)


def _validation(passed: bool, *stages: str) -> Validation:
    steps = [ValidationStep(command=name, stage=name, passed=True) for name in stages]
    steps[-1] = steps[-1].model_copy(update={"passed": passed})
    return Validation(passed=passed, summary="", steps=tuple(steps))


def _state(*errors: str) -> TrajectoryState:
    return TrajectoryState(snapshot="", stage=0, fingerprints=frozenset(errors), patch_hash="", passed=not errors)


@pytest.mark.parametrize(
    ("baseline", "last", "states", "left"),
    [
        (_validation(False, "lint"), _validation(False, "lint"), [_state("L"), _state("L")], {"lint": ("L",)}),
        (_validation(False, "test"), _validation(False, "test"), [_state("T"), _state("U")], {"test": ("T",)}),
        (_validation(False, "lint"), _validation(False, "lint", "test"), [_state("L"), _state("T")],
         {"lint": ("L",), "test": ("T",)}),
        (_validation(True, "lint", "test"), _validation(False, "lint"), [_state(), _state("L")], {}),
        (None, _validation(False, "test"), [_state("T")], {"test": ("T",)}),
        (None, None, [], {}),
    ],
)  # fmt: skip
def test_what_only_the_attempts_brought_is_nobodys_to_resolve(
    baseline: Validation | None,
    last: Validation | None,
    states: list[TrajectoryState],
    left: dict[str, tuple[str, ...]],
) -> None:
    state = RunState(baseline=baseline, validations=(last,) if last else (), states=tuple(states))
    assert unfixed(state) == left


@pytest.mark.parametrize(
    ("body", "numbers"),
    [
        ("Closes #7", (7,)),
        ("fix: #7, RESOLVED #8\nand fixes o/r#9 and closes GH-10", (7, 8, 9, 10)),
        ("Fixes O/R#7 fixes #7", (7,)),
        ("fixes other/r#7", ()),
        ("About #7. Prefixes #7, close-#7, closes#7, closing #7", ()),
        ("closes #0123456789", ()),
        ("", ()),
        ("fixes " * 20_000, ()),
    ],
)
def test_what_a_body_closes_is_what_github_would_close(body: str, numbers: tuple[int, ...]) -> None:
    assert closes(body, "o/r") == numbers
