"""What the checks of a pull request come to, as GitHub shows it: from queued to the verdict, whose failure each is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from demo.standin.server import StandIn
from tests.workflows.conftest import NAME
from tests.workflows.pull_bot import EXISTING_RUNS, TEST, RunningBot, WithBot, with_bot

LUCKY = """\
import pathlib, sys
seen = pathlib.Path("ignored.txt")
lucky = seen.exists()
seen.write_text("once")
wrong = [line for line in pathlib.Path("wrong.txt").read_text().splitlines() if line]
wrong += [] if lucky else ["only at the first time"]
for number, line in enumerate(wrong, 1):
    print(f"wrong.txt:{number}: error: {line}")
sys.exit(bool(wrong))
"""
"""As `TEST`, with one failure more that is there at the first time alone."""


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def test_each_check_goes_from_queued_through_in_progress_to_its_verdict(do: WithBot) -> None:
    """H-1."""

    async def work(bot: RunningBot) -> None:
        base = bot.furnish()
        gate = bot.root / "gate"
        waits = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists():\n    time.sleep(0.01)\n"
        script = TEST.replace("sys\n", f"sys\n{waits}", 1)
        number, sha = bot.open({"wrong.txt": "it is broken\n", "test.py": script})
        await bot.until(lambda: any(run.status == "in_progress" for run in bot.runs(sha, "test")), "the test to run")
        gate.touch()
        await bot.quiet()
        for name, end in (("lint", "success"), ("test", "failure"), ("typecheck", "skipped")):
            (run,) = bot.runs(sha, name)
            assert (run.status, run.conclusion) == ("completed", end)
            sent = [
                (request.body or {}).get("status")
                for request in bot.world.requests
                if request.method in ("POST", "PATCH") and _is_about(request, run.id, name)
            ]
            assert sent[0] == "queued"
            assert sent[-1] == "completed"
            if name == "test":  # a quick one may be over before anybody is told
                assert "in_progress" in sent
            assert [sent.index(status) for status in dict.fromkeys(sent)] == sorted(
                map(sent.index, dict.fromkeys(sent))
            )
        test = bot.checks(sha)["test"]
        assert test.title == "1 new failure"
        page = f"{bot.at.github.url}/{NAME}"
        assert f"{page}/commit/{base}" in test.summary
        assert f"{page}/blob/{sha}/wrong.txt#L1" in test.summary
        assert bot.comment(number, "checks") == ""

    do(work)


def _is_about(request: Any, run_id: int, name: str) -> bool:
    made = request.path.endswith("/check-runs") and (request.body or {}).get("name") == f"mendbot / {name}"
    return made or request.path.endswith(f"/check-runs/{run_id}")


def test_many_findings_arrive_fifty_at_a_time_the_most_severe_first(do: WithBot) -> None:
    """H-1."""
    kinds = ["warning"] * 100 + ["error"] * 80
    script = "".join(f"print('wrong.txt:{at}: {kind}: number {at}')\n" for at, kind in enumerate(kinds, 1))

    async def work(bot: RunningBot) -> None:
        bot.furnish()
        many = "line\n" * len(kinds)
        _, sha = bot.open({"test.py": f"{script}raise SystemExit(1)\n", "wrong.txt": many})
        await bot.quiet()
        (run,) = bot.runs(sha, "test")
        assert [one["annotation_level"] for one in run.annotations] == ["failure"] * 80 + ["warning"] * 100
        batches = [
            len(request.body["output"].get("annotations", ()))
            for request in bot.world.requests
            if request.method in ("POST", "PATCH") and _is_about(request, run.id, "test")
        ]
        assert [size for size in batches if size] == [50, 50, 50, 30]

    do(work)


def test_what_fails_once_and_passes_at_the_same_commit_is_unsure_and_nobody_is_asked_to_mend_it(do: WithBot) -> None:
    """H-2."""

    async def work(bot: RunningBot) -> None:
        base = bot.furnish()
        _, sha = bot.open({"test.py": LUCKY})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert run.conclusion == "neutral"
        assert run.title == "1 unsure"
        assert "failed 1 of 9 on" in run.summary and "passed 9 of 9 on" in run.summary
        assert "fix" not in {action["identifier"] for action in run.actions}
        assert (bot.executed(sha).count("test"), bot.executed(base)) == (9, ["test"] * 9)

    do(work)


def test_one_check_may_show_what_is_new_what_is_flaky_and_what_the_base_has_too(do: WithBot) -> None:
    """H-2."""

    async def work(bot: RunningBot) -> None:
        base = bot.furnish({"wrong.txt": "old trouble\n"})
        _, sha = bot.open({"wrong.txt": "old trouble\nnew trouble\n", "test.py": LUCKY})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert run.conclusion == "failure"
        assert re.fullmatch(r"1 new failure, 1 unsure, 1 existing failure \(also on [0-9a-f]{7}\)", run.title)
        assert bot.executed(base) == ["test"] * 9

    do(work)


def test_a_base_is_checked_once_for_all_its_pull_requests(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        base = bot.furnish({"wrong.txt": "old trouble\n"})
        heads = []
        for name in ("one", "two", "three"):
            heads.append(bot.open({"notes.txt": name}, branch=name)[1])
            await bot.quiet()
        assert {bot.checks(sha)["test"].conclusion for sha in heads} == {"neutral"}
        assert bot.executed(base) == EXISTING_RUNS
        assert [bot.executed(sha) for sha in heads] == [["lint", *EXISTING_RUNS]] * 3

    do(work)


def test_a_check_that_the_base_does_not_have_is_new(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish({"test.py": None})
        _, sha = bot.open({"test.py": TEST, "wrong.txt": "new trouble\n"})
        await bot.quiet()
        assert bot.checks(sha)["test"].conclusion == "failure"

    do(work)


def test_a_base_that_could_not_be_set_up_once_is_tried_again_at_the_next_need(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        down, tried = bot.root / "down", bot.root / "tried"
        down.touch()
        setup = f"test -e own.txt || {{ echo tried >> {tried}; test ! -e {down}; }}"
        base = bot.furnish({"wrong.txt": "old trouble\n", "style.txt": "poor\n"}, setup=setup)
        _, sha = bot.open({"own.txt": "1\n"})
        await bot.quiet()
        assert (bot.conclusions(sha)["lint"], bot.conclusions(sha)["test"]) == ("failure", "failure")
        assert "setup failed on the merge base" in bot.checks(sha)["test"].summary
        assert len(tried.read_text().split()) == 1  # for the second check of the same run not again
        down.unlink()
        bot.world.press_button(bot.checks(sha)["test"].id, "rerun_failed", "ada")
        await bot.quiet()
        assert (bot.conclusions(sha)["lint"], bot.conclusions(sha)["test"]) == ("neutral", "neutral")
        assert sorted(bot.executed(base)) == ["lint", *EXISTING_RUNS]

    do(work)


def test_a_head_whose_set_up_fails_says_so_and_offers_no_fix(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish(setup="test ! -e own.txt")
        _, sha = bot.open({"own.txt": "1\n"})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert run.conclusion == "failure"
        assert run.title == "Setup failed: checks did not run"
        assert run.summary.startswith("`test ! -e own.txt` · 0.")
        assert "exit code 1" in run.summary and "so no check ran" in run.summary
        assert "failure" not in run.title and "could not be started" not in run.summary
        assert [action["identifier"] for action in run.actions] == ["rerun_failed"]

    do(work)
