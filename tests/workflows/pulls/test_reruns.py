"""Checks asked for once more, by GitHub's own buttons and ours: what is executed again, and what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.workflows.conftest import NAME
from tests.workflows.pull_bot import NEW_RUNS, RunningBot, WithBot, with_bot

FIRST = ["lint", *NEW_RUNS]
"""What is executed of a head whose test fails: the test again, until chance is ruled out."""
BROKEN: dict[str, str | bytes | None] = {"wrong.txt": "trouble\n"}


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def test_one_check_run_again_executes_that_check_alone_and_keeps_the_rest(do: WithBot) -> None:
    """H-1."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        _, sha = bot.open(BROKEN)
        await bot.quiet()
        before = bot.checks(sha)
        bot.world.rerequest_check_run(before["lint"].id, "ada")
        await bot.quiet()
        assert bot.executed(sha) == [*FIRST, "lint"]
        old, new = bot.runs(sha, "lint")
        assert (old.conclusion, new.conclusion) == ("success", "success")
        assert old.external_id != new.external_id
        assert len(bot.runs(sha, "test")) == 1
        assert "`test`" in new.summary  # what it came to before stands

    do(work)


def test_what_failed_is_executed_again_and_nothing_else(do: WithBot) -> None:
    """H-1."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        _, sha = bot.open(BROKEN)
        await bot.quiet()
        executed = list(FIRST)
        for how in ("button", "rerun"):
            run = bot.checks(sha)["test"]
            if how == "button":
                bot.world.press_button(run.id, "rerun_failed", "ada")
            else:
                bot.world.rerequest_check_run(run.id, "ada")
            await bot.quiet()
            executed += NEW_RUNS
            assert bot.executed(sha) == executed, how
            assert bot.conclusions(sha) == {"lint": "success", "test": "failure", "typecheck": "skipped"}
            assert "`lint`" in bot.checks(sha)["test"].summary

    do(work)


def test_what_was_kept_once_is_kept_again(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        _, sha = bot.open({**BROKEN, "style.txt": "poor\n"})
        await bot.quiet()
        for name in ("lint", "test"):
            bot.world.rerequest_check_run(bot.checks(sha)[name].id, "ada")
            await bot.quiet()
        bot.world.press_button(bot.checks(sha)["test"].id, "rerun_failed", "ada")
        await bot.quiet()
        assert bot.executed(sha) == ["lint", "lint", *NEW_RUNS] * 3
        assert bot.conclusions(sha) == {"lint": "failure", "test": "failure", "typecheck": "skipped"}

    do(work)


def test_all_checks_again_executes_all(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        _, sha = bot.open({"notes.txt": "hello\n"})
        await bot.quiet()
        bot.world.rerequest_check_suite(NAME, sha, "ada")
        await bot.quiet()
        assert bot.executed(sha) == ["lint", "test"] * 2
        assert len(bot.runs(sha, "test")) == 2

    do(work)


def test_a_forks_checks_run_again_by_whoever_may_write(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, sha = bot.open_fork(BROKEN)
        await bot.quiet()
        bot.world.comment(NAME, number, f"/mendbot ok-to-test {sha[:12]}", "ada")
        await bot.quiet()
        assert bot.executed(sha) == FIRST
        bot.world.rerequest_check_run(bot.checks(sha)["lint"].id, "ada")
        await bot.quiet()
        bot.world.rerequest_check_suite(NAME, sha, "ada")
        await bot.quiet()
        assert bot.executed(sha) == [*FIRST, "lint", *FIRST]

    do(work)


def test_nobody_else_runs_anything_again_nor_whom_github_does_not_vouch_for(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        _, sha = bot.open(BROKEN)
        await bot.quiet()
        run = bot.checks(sha)["test"]
        for role in ("triage", "read", "none"):
            who = f"the-{role}"
            bot.world.set_permission(NAME, who, role)
            bot.world.rerequest_check_run(run.id, who)
            bot.world.press_button(run.id, "rerun_failed", who)
            bot.world.rerequest_check_suite(NAME, sha, who)
            await bot.quiet()
            assert bot.executed(sha) == FIRST, role
            assert [row.status for row in await bot.deliveries() if f"{who} has" in row.because] == ["ignored"] * 3
        bot.world.faults.add("GET", f"/repos/{NAME}/collaborators/ada/permission", status=403, times=99)
        bot.world.rerequest_check_run(run.id, "ada")
        bot.world.rerequest_check_suite(NAME, sha, "ada")
        await bot.quiet()
        assert bot.executed(sha) == FIRST

    do(work)


def test_a_check_asked_for_again_at_a_head_that_is_gone_does_nothing(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        _, sha = bot.open(BROKEN)
        await bot.quiet()
        new = bot.push({"wrong.txt": ""})
        await bot.quiet()
        bot.world.rerequest_check_run(bot.checks(sha)["test"].id, "ada")
        bot.world.press_button(bot.checks(sha)["test"].id, "rerun_failed", "ada")
        bot.world.rerequest_check_suite(NAME, sha, "ada")
        await bot.quiet()
        assert bot.executed(sha) == FIRST
        assert bot.executed(new) == ["lint", "test"]

    do(work)


def test_pressed_twice_at_once_it_runs_once(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        gate = bot.root / "gate"
        gate.touch()
        waits = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists():\n    time.sleep(0.01)\n"
        _, sha = bot.open({**BROKEN, "test.py": f"{waits}raise SystemExit(1)\n"})
        await bot.quiet()
        gate.unlink()
        run = bot.checks(sha)["test"]
        for _ in range(3):
            bot.world.press_button(run.id, "rerun_failed", "ada")
        await bot.until(lambda: len(bot.executed(sha)) == len(FIRST) + 1, "the test to run again")
        await bot.heard_all()
        gate.touch()
        await bot.quiet()
        assert bot.executed(sha) == [*FIRST, *NEW_RUNS]

    do(work)
