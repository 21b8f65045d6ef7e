"""A merge queue waits for the required checks of a commit of its own: it gets them, and is never left waiting."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.rules.events import parse
from bot.rules.events.types import MergeGroupDestroyed, MergeGroupRequested
from demo.standin.server import StandIn
from tests.oracle.webhooks import check_webhook
from tests.workflows.conftest import NAME
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot

ALL = {"lint", "test", "typecheck"}


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def test_a_merge_group_gets_the_checks_of_a_pull_request_against_its_base(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, _ = bot.open({"notes.txt": "hello\n"})
        await bot.quiet()
        sha = bot.world.enqueue_pull(NAME, number, "ada")
        await bot.quiet()
        assert set(bot.checks(sha)) == ALL
        assert bot.executed(sha) == ["lint", "test"]
        assert bot.conclusions(sha)["test"] == bot.conclusions(sha)["lint"] == "success"
        assert [len(bot.runs(sha, name)) for name in sorted(ALL)] == [1, 1, 1]
        sent = next(one for one in bot.world.deliveries if one.event == "merge_group")
        assert check_webhook(sent.event, json.loads(sent.payload)) == []

    do(work)


def test_what_fails_in_the_group_alone_is_new_and_what_its_base_has_is_not(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, _ = bot.open({"wrong.txt": "trouble\n"})
        await bot.quiet()
        red = bot.world.enqueue_pull(NAME, number, "ada")
        await bot.quiet()
        assert bot.conclusions(red)["test"] == "failure"
        bot.push({"wrong.txt": "trouble\n"}, to="main")
        other, _ = bot.open({"notes.txt": "hello\n"}, branch="other")
        await bot.quiet()
        tolerated = bot.world.enqueue_pull(NAME, other, "ada")
        await bot.quiet()
        assert bot.conclusions(tolerated)["test"] == bot.conclusions(bot.head(other))["test"] != "failure"

    do(work)


def test_a_group_of_a_forks_pull_request_is_checked(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, head = bot.open_fork({"notes.txt": "hello\n"})
        await bot.quiet()
        assert bot.executed(head) == []
        sha = bot.world.enqueue_pull(NAME, number, "ada")
        await bot.quiet()
        assert bot.conclusions(sha)["test"] == "success"

    do(work)


def test_the_same_group_told_of_twice_is_checked_once(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, _ = bot.open({"notes.txt": "hello\n"})
        sha = bot.world.enqueue_pull(NAME, number, "ada")
        await bot.quiet()
        sent = next(one for one in bot.world.deliveries if one.event == "merge_group")
        await bot.accept((sent.event, sent.payload))
        await bot.quiet()
        assert bot.executed(sha) == ["lint", "test"]
        assert len(bot.runs(sha, "test")) == 1

    do(work)


def test_a_group_that_is_gone_is_checked_no_more(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        hold = bot.root / "hold"
        waits = f"import pathlib, time\nwhile pathlib.Path({str(hold)!r}).exists():\n    time.sleep(0.01)\n"
        bot.furnish({"test.py": waits})
        number, _ = bot.open({"notes.txt": "hello\n"})
        await bot.quiet()
        hold.touch()
        sha = bot.world.enqueue_pull(NAME, number, "ada")
        await bot.until(lambda: bot.executed(sha) == ["lint", "test"], "the group's test under way")
        bot.world.destroy_group(NAME, number, sha, "ada", "dequeued")
        await bot.quiet()
        row = await bot.at.context.stores.pulls.latest_of(bot.at.repo, 0, sha)
        assert row is not None and row.status == "cancelled"
        (test,) = bot.runs(sha, "test")
        assert test.status == "completed" and test.conclusion != "success"

    do(work)


def test_a_failed_check_of_a_group_is_run_again_and_offers_no_fix(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, _ = bot.open({"wrong.txt": "trouble\n"})
        await bot.quiet()
        sha = bot.world.enqueue_pull(NAME, number, "ada")
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert "fix" not in [action["identifier"] for action in run.actions]
        bot.world.rerequest_check_run(run.id, "ada")
        await bot.quiet()
        assert [one.conclusion for one in bot.runs(sha, "test")] == ["failure", "failure"]
        assert len(bot.runs(sha, "lint")) == 1

    do(work)


def test_where_checks_of_pull_requests_are_off_nothing_is_posted(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish(pull_requests={"enabled": False})
        number, _ = bot.open({"notes.txt": "hello\n"})
        sha = bot.world.enqueue_pull(NAME, number, "ada")
        await bot.quiet()
        assert bot.checks(sha) == {}
        assert bot.executed() == []

    do(work)


def test_without_a_sandbox_the_queue_is_answered_and_nothing_runs(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish()
        number, _ = bot.open_fork({"notes.txt": "hello\n"})
        sha = bot.world.enqueue_pull(NAME, number, "ada")
        await bot.quiet()
        assert set(bot.conclusions(sha).values()) == {"action_required"}
        assert set(bot.conclusions(sha)) == ALL
        assert bot.executed(sha) == []

    do(work, boxed=False)


def test_an_event_without_a_sender_or_reason_is_read() -> None:
    group = {
        "head_sha": "a" * 40,
        "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-" + "b" * 40,
        "base_sha": "b" * 40,
        "base_ref": "refs/heads/release/1.x",
    }
    payload = {"repository": {"full_name": NAME}, "installation": {"id": 7}, "merge_group": group}
    asked = parse.parse("merge_group", {"action": "checks_requested", **payload})
    assert isinstance(asked, MergeGroupRequested)
    assert (asked.base_ref, asked.head_ref.split("/")[0]) == ("release/1.x", "gh-readonly-queue")
    gone = parse.parse("merge_group", {"action": "destroyed", **payload})
    assert isinstance(gone, MergeGroupDestroyed) and gone.reason == ""
