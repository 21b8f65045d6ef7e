"""What people teach by their pushes, by what they merge and by what they say (REQ-RA-311), and where it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.store.database.database import now_ms
from bot.store.history.outcomes import CheckOutcome
from bot.workflows.history.learn_from_people import learn_resolved, unresolved
from demo.standin.server import StandIn
from tests.workflows.conftest import NAME
from tests.workflows.history.fixed_by_people import BROKEN, MENDED, error, known, mended, pushed
from tests.workflows.pull_bot import TEST, RunningBot, WithBot, with_bot

LUCKY = TEST.replace(
    "sys.exit(bool(wrong))",
    'import pathlib\nmarks = pathlib.Path("ignored.txt")\nlucky = marks.exists()\nmarks.write_text("x")\n'
    "sys.exit(bool(wrong) and not lucky)",
)
"""Passes whatever is wrong, but for the first time in a tree."""


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    github.world.create_user("bea")
    return with_bot(github, tmp_path)


def test_the_push_between_a_red_and_a_green_check_is_remembered_with_all_that_proves_it(do: WithBot) -> None:
    """REQ-RA-311."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, _, green = await mended(bot)
        found = await known(bot)
        assert found is not None
        told = found.resolution
        assert (told.commit, told.pull_request, told.repo) == (green, number, NAME)
        assert (told.resolved_by, told.author, told.tool) == ("bea", "bea", "push")
        assert (told.proof, told.merged) == (None, False)
        assert told.patch is not None
        assert "-it is broken\n" in told.patch
        assert told.diff_hash
        edit, command = told.tool_sequence
        assert edit == "Edit wrong.txt"
        assert command == bot.recorded("test") + " && python3 test.py", "not the command that passes since"
        assert (found.use_count, found.shown) == (1, 0)
        by_file = await bot.at.context.stores.history.by_file("wrong.txt", repo=NAME)
        assert [one.id for one in by_file] == [found.id]

    do(work)


def test_the_next_check_that_fails_with_it_says_how_often_and_what_cleared_it(do: WithBot) -> None:
    """REQ-RA-312."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, _, green = await mended(bot)
        _, sha = bot.open(BROKEN, branch="again")
        await bot.quiet()
        test = bot.checks(sha)["test"]
        assert "seen 2 times since" in test.summary
        assert f"last fixed in [`{green[:7]}`]" in test.summary
        assert f"[#{number}]" in test.summary
        (note,) = test.annotations
        assert green[:7] in note["message"]

    do(work)


def test_an_error_that_was_gone_before_the_check_passed_is_resolved_by_all_that_came_since(do: WithBot) -> None:
    """Two errors, fixed one after the other: each is proven by the pass, with the change since its own last head."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        bot.open({"wrong.txt": "one is broken\n"})
        await bot.quiet()
        await pushed(bot, {"wrong.txt": "two is broken\n"})
        assert await known(bot, "one is broken") is None, "a check that still fails proves nothing"
        await pushed(bot, MENDED)
        for text in ("one is broken", "two is broken"):
            found = await known(bot, text)
            assert found is not None
            assert f"-{text}\n" in (found.resolution.patch or "")

    do(work)


def test_a_pass_by_luck_teaches_nothing_and_makes_what_failed_before_doubtful(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        bot.open(BROKEN)
        await bot.quiet()
        lucky = await pushed(bot, {"test.py": LUCKY})
        assert bot.conclusions(lucky)["test"] == "neutral"
        assert await known(bot) is None
        await pushed(bot, {**MENDED, "test.py": TEST})
        assert await known(bot) is None

    do(work)


def test_a_pass_at_the_commit_that_failed_teaches_nothing(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        flag = bot.root / "flag"
        unlucky = TEST.replace(
            "sys.exit(bool(wrong))", f"sys.exit(bool(wrong) and not __import__('os').path.exists({str(flag)!r}))"
        )
        bot.furnish({"test.py": unlucky})
        _, sha = bot.open(BROKEN)
        await bot.quiet()
        flag.touch()
        bot.world.rerequest_check_run(bot.checks(sha)["test"].id, "ada")
        await bot.quiet()
        assert bot.conclusions(sha)["test"] == "success"
        assert await known(bot) is None
        await pushed(bot, MENDED)
        assert await known(bot) is None

    do(work)


def test_what_fails_on_the_base_alone_teaches_nothing(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish(BROKEN)
        _, sha = bot.open({"README.md": "x\n"})
        await bot.quiet()
        assert bot.conclusions(sha)["test"] == "neutral"
        await pushed(bot, MENDED)
        assert await known(bot) is None

    do(work)


def test_a_push_of_ours_is_nobodys_lesson(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, _ = bot.open(BROKEN)
        await bot.quiet()
        threads = bot.at.context.stores.threads
        await threads.pushed(bot.at.repo, "1" * 40, run_id="run-1", number=number, at_ms=now_ms())
        await pushed(bot, MENDED)
        assert await known(bot) is None, "a commit of ours lies between the two"

    do(work)


def test_a_patch_that_holds_a_secret_is_not_stored(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        bot.open({**BROKEN, "key.txt": "w" * 32 + "\n"})
        await bot.quiet()
        await pushed(bot, {**MENDED, "key.txt": None})
        assert await known(bot) is None

    do(work)


def test_an_error_of_most_failures_is_not_recorded(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        outcomes = bot.at.context.stores.outcomes
        for at in range(12):
            one = _outcome(f"run-{at}", "failed", error(), number=100 + at)
            await outcomes.record(one)
        await mended(bot)
        assert await known(bot) is None
        assert await learn_resolved(bot.at.context, bot.at.repo, [error()], by="ada", how="x") == 0
        _, sha = bot.open(BROKEN, branch="again")
        await bot.quiet()
        assert "seen" not in bot.checks(sha)["test"].summary

    do(work)


def test_what_somebody_says_is_recorded_with_who_and_how(do: WithBot) -> None:
    """REQ-RA-311."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, _ = bot.open(BROKEN)
        await bot.quiet()
        bot.world.comment(NAME, number, "/mendbot resolved a newer parser", "ada")
        await bot.quiet()
        found = await known(bot)
        assert found is not None
        told = found.resolution
        assert (told.resolved_by, told.author, told.how, told.repo) == ("ada", "ada", "a newer parser", NAME)
        assert (told.patch, told.commit) == (None, None)
        _, sha = bot.open(BROKEN, branch="again")
        await bot.quiet()
        (note,) = bot.checks(sha)["test"].annotations
        assert "a newer parser" in note["message"]

    do(work)


def _outcome(run: str, outcome: Any, *errors: str, sha: str = "", number: int = 8) -> CheckOutcome:
    return CheckOutcome(
        repo=NAME,
        number=number,
        stage="test",
        sha=sha or run,
        run_id=run,
        outcome=outcome,
        errors=errors,
        at_ms=now_ms(),
    )


@pytest.mark.parametrize(
    ("past", "left"),
    [
        ([], {}),
        ([_outcome("a", "failed", "E")], {"a": ("E",)}),
        ([_outcome("a", "failed", "E"), _outcome("b", "failed", "E", "F")], {"b": ("E", "F")}),
        ([_outcome("a", "failed", "E", "F"), _outcome("b", "failed", "F")], {"a": ("E",), "b": ("F",)}),
        ([_outcome("a", "failed", "E"), _outcome("b", "passed")], {}),
        ([_outcome("a", "failed", "E"), _outcome("b", "flaky")], {}),
        ([_outcome("a", "failed", "E"), _outcome("b", "passed"), _outcome("c", "failed", "F")], {"c": ("F",)}),
        ([_outcome("a", "failed")], {}),
        ([_outcome("a", "failed", "E", sha="head")], {}),
        ([_outcome("a", "failed", "E", sha="head"), _outcome("b", "failed", "E", "F")], {"b": ("F",)}),
        ([_outcome("a", "failed", "E"), _outcome("now", "passed"), _outcome("z", "failed", "F")], {"a": ("E",)}),
        ([_outcome("a", "failed", "E").model_copy(update={"stage": "lint"})], {}),
    ],
)
def test_what_no_pass_cleared_is_open(past: list[CheckOutcome], left: dict[str, tuple[str, ...]]) -> None:
    assert {one.run_id: errors for one, errors in unresolved(past, "test", "now", "head")} == left
