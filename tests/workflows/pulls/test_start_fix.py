"""*Fix*: who may press it, what is pushed and how often, and what is told where nothing may be pushed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.store.database.database import now_ms
from demo.standin.server import StandIn
from demo.standin.views import DeliveryView
from tests.workflows.conftest import NAME, ScriptedAgent
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot

BROKEN: dict[str, str | bytes | None] = {"wrong.txt": "new trouble\n"}


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def mends(bot: RunningBot, left: str = "") -> None:
    """The agent writes what is to be left of `wrong.txt`."""
    bot.at.hands.append(ScriptedAgent(lambda tree: (tree / "wrong.txt").write_text(left) and None))


async def _failing(bot: RunningBot, *, by: str = "ada") -> tuple[int, str]:
    number, sha = bot.open(BROKEN, by=by)
    await bot.quiet()
    assert bot.conclusions(sha)["test"] == "failure"
    return number, sha


def press(bot: RunningBot, sha: str, by: str, identifier: str = "fix", check: str = "test") -> None:
    bot.world.press_button(bot.checks(sha)[check].id, identifier, by)


@pytest.mark.parametrize(
    "roles", [("write",), pytest.param(("maintain", "admin"), marks=pytest.mark.soak)], ids=["write", "more"]
)
def test_who_may_push_may_have_it_fixed(do: WithBot, roles: Sequence[str]) -> None:
    """H-1."""

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        mends(bot)
        pulls = {role: bot.open({**BROKEN, "notes.txt": role}, branch=role) for role in roles}
        await bot.quiet()
        for role, (_, sha) in pulls.items():
            bot.world.set_permission(NAME, f"the-{role}", role)
            press(bot, sha, f"the-{role}")
        await bot.quiet()
        for number, sha in pulls.values():
            head = bot.head(number)
            assert head != sha
            assert bot.conclusions(head)["test"] == "success"
            assert bot.conclusions(head)["fix"] == "success"
            assert bot.executed(head) == []  # its own push starts no checks: they ran before it

    do(work)


def test_pressed_twice_at_once_one_fix_is_made_and_nobody_is_scolded(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        mends(bot)
        number, sha = await _failing(bot)
        for _ in range(2):
            press(bot, sha, "ada")
        await bot.quiet()
        assert len(bot.runs(sha, "fix")) == 1
        assert bot.comment(number, "reply") == ""
        assert bot.conclusions(bot.head(number))["test"] == "success"

    do(work)


def test_fix_at_a_head_that_is_gone_does_nothing(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        mends(bot)
        number, old = await _failing(bot)
        new = bot.push({"notes.txt": "more\n"})
        await bot.quiet()
        press(bot, old, "ada")
        await bot.quiet()
        assert bot.head(number) == new
        assert (bot.runs(old, "fix"), bot.runs(new, "fix"), bot.comment(number, "reply")) == ((), (), "")

    do(work)


def test_who_may_not_push_may_not(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        mends(bot)
        number, sha = await _failing(bot)
        for role in ("triage", "read", "none"):
            bot.world.set_permission(NAME, f"the-{role}", role)
            press(bot, sha, f"the-{role}")
        bot.world.create_user("stranger")
        press(bot, sha, "stranger")
        await bot.quiet()
        assert bot.head(number) == sha
        assert "fix" not in bot.checks(sha)
        assert bot.comment(number, "reply") == ""

    do(work)


def test_the_author_of_a_branch_here_may_have_it_fixed(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        mends(bot)
        number, sha = await _by_a_former_member(bot)
        press(bot, sha, "bob")
        await bot.quiet()
        assert bot.conclusions(sha)["fix"] == "success"
        assert bot.head(number) != sha

    do(work)


async def _by_a_former_member(bot: RunningBot) -> tuple[int, str]:
    """A pull request of somebody who may only read now, its head approved."""
    bot.world.set_permission(NAME, "bob", "read")
    number, sha = bot.open(BROKEN, by="bob")
    await bot.quiet()
    bot.world.comment(NAME, number, f"/mendbot ok-to-test {sha}", "ada")
    await bot.quiet()
    assert bot.conclusions(sha)["test"] == "failure"
    return number, sha


def test_a_fix_succeeds_though_what_fails_on_the_base_too_stays(do: WithBot) -> None:
    """H-2."""

    async def work(bot: RunningBot) -> None:
        bot.furnish({"wrong.txt": "old trouble\n"})
        mends(bot, "old trouble\n")
        number, sha = bot.open({"wrong.txt": "old trouble\nnew trouble\n"})
        await bot.quiet()
        press(bot, sha, "ada")
        await bot.quiet()
        assert bot.head(number) != sha
        assert bot.world.read_file(NAME, bot.head(number), "wrong.txt") == b"old trouble\n"

    do(work)


def test_a_fix_that_leaves_what_is_new_is_not_pushed(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish({"wrong.txt": "old trouble\n"}, max_attempts=1)
        mends(bot, "new trouble\n")
        number, sha = bot.open({"wrong.txt": "old trouble\nnew trouble\n"})
        await bot.quiet()
        press(bot, sha, "ada")
        await bot.quiet()
        assert bot.head(number) == sha
        assert bot.conclusions(sha)["fix"] == "failure"

    do(work)


def test_a_forks_fix_is_offered_and_nothing_is_pushed(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        mends(bot)
        number, sha = bot.open_fork(BROKEN)
        await bot.quiet()
        bot.world.comment(NAME, number, f"/mendbot ok-to-test {sha}", "ada")
        await bot.quiet()
        before = (bot.world.branches(NAME), bot.world.branches("eve/tiny"))
        press(bot, sha, "eve")  # its author, who may not push here
        await bot.quiet()
        assert "fix" not in bot.checks(sha)
        press(bot, sha, "ada")
        await bot.quiet()
        assert "-new trouble" in bot.comment(number, "fix")
        assert "```diff" in bot.comment(number, "fix")
        assert (bot.world.branches(NAME), bot.world.branches("eve/tiny")) == before
        assert bot.conclusions(sha)["fix"] == "success"

    do(work)


def test_nothing_is_pushed_where_the_branch_moved_meanwhile(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, sha = await _failing(bot)
        moved: list[str] = []

        def edit(tree: Path) -> None:
            (tree / "wrong.txt").write_text("")
            if not moved:
                moved.append(bot.push({"notes.txt": "meanwhile\n"}))

        bot.deaf = True  # the push is told of late
        bot.at.hands.append(ScriptedAgent(edit))
        await bot.accept(*_pressed(bot, sha))
        await bot.until(lambda: bot.conclusions(sha).get("fix") is not None, "the fix to end")
        bot.deaf = False
        await bot.quiet()
        assert bot.head(number) == moved[0]
        assert bot.conclusions(sha)["fix"] != "success"
        assert moved[0][:12] in bot.comment(number, "fix")

    do(work)


def _pressed(bot: RunningBot, sha: str) -> list[DeliveryView]:
    press(bot, sha, "ada")
    return [one for one in bot.skip() if one.action == "requested_action"]


@pytest.mark.parametrize("how", ["push", "close"])
def test_a_fix_that_could_not_be_pushed_any_more_is_stopped(do: WithBot, how: str) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, sha = await _failing(bot)
        busy = bot.root / "busy"
        slow = f"import pathlib, time\npathlib.Path({str(busy)!r}).touch()\ntime.sleep(300)\n"
        bot.at.hands.append(ScriptedAgent(lambda tree: (tree / "test.py").write_text(slow) and None))
        press(bot, sha, "ada")
        await bot.until(busy.exists, "the fix to be checked")
        if how == "push":
            new = bot.push({"notes.txt": "meanwhile\n"})
        else:
            bot.world.close_issue(NAME, number, "ada")
        await bot.quiet()
        assert bot.conclusions(sha)["fix"] == "cancelled"
        assert (new[:12] if how == "push" else "closed") in bot.comment(number, "fix")

    do(work)


def test_at_most_three_pushes_go_to_one_pull_request(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        mends(bot)
        number, head = await _failing(bot)
        for at in range(2):
            await bot.at.context.stores.threads.pushed(
                bot.at.repo, f"{at:040x}", run_id=f"run-{at}", number=number, at_ms=now_ms()
            )
        press(bot, head, "ada")
        await bot.quiet()
        assert bot.head(number) != head
        head = bot.push({"wrong.txt": "again\n"})
        await bot.quiet()
        assert bot.conclusions(head)["test"] == "failure"
        assert "fix" not in {action["identifier"] for action in bot.checks(head)["test"].actions}
        bot.world.comment(NAME, number, "/mendbot fix", "ada")
        await bot.quiet()
        assert bot.head(number) == head
        assert "3 pushes" in bot.comment(number, "reply")

    do(work, patience_s=120.0)


def test_at_most_ten_pushes_an_hour_go_to_one_repository(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        mends(bot)
        for at in range(10):
            await bot.at.context.stores.threads.pushed(
                bot.at.repo, f"{at:040x}", run_id=f"run-{at}", number=100 + at, at_ms=now_ms()
            )
        number, sha = await _failing(bot)
        bot.world.comment(NAME, number, "/mendbot fix", "ada")
        await bot.quiet()
        assert bot.head(number) == sha
        assert "10 pushes" in bot.comment(number, "reply")

    do(work)


@pytest.mark.parametrize("times", [5, pytest.param(50, marks=pytest.mark.soak)])
def test_the_echo_of_its_own_push_starts_nothing_however_often_it_comes(do: WithBot, times: int) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        mends(bot)
        number, sha = await _failing(bot)
        press(bot, sha, "ada")
        await bot.quiet()
        head = bot.head(number)
        (echo,) = [one for one in bot.world.deliveries if one.action == "synchronize"]
        before = _pushes(bot)
        for _ in range(times):
            await bot.accept(echo)
        await bot.quiet()
        assert bot.head(number) == head
        assert bot.executed(head) == []
        assert _pushes(bot) == before == 1
        assert len(bot.runs(head, "test")) == 1

    do(work)


def _pushes(bot: RunningBot) -> int:
    return sum(one.method == "POST" and one.path.endswith("git-receive-pack") for one in bot.world.requests)
