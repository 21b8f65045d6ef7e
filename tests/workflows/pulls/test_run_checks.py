"""Whose failure a failing test is, from runs on head and merge base: one test for each verdict (REQ-PROOF-004)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from demo.standin.server import StandIn
from tests.workflows.conftest import NAME
from tests.workflows.pull_bot import RunningBot, WithBot, with_bot

TESTS = """\
import pathlib

ROOT = pathlib.Path({root!r})
HEAD = pathlib.Path(__file__).parent.name == "head"


def ran(name):
    \"\"\"How often this test ran on this commit before, in any process.\"\"\"
    log = ROOT / f"{{name}}-{{'head' if HEAD else 'base'}}.log"
    with log.open("a") as file:
        file.write("x")
    return len(log.read_text()) - 1


def test_other():
    ran("other")


def test_one():
    number = ran("one")
    assert not ({condition}), "it broke"
"""
UNIT = "FAILED test_calc.py::test_one"


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def project(bot: RunningBot, condition: str) -> dict[str, str | bytes | None]:
    """A pytest project in which `test_one` fails by that condition on the number of its run and on `HEAD`."""
    text = TESTS.format(root=str(bot.root), condition=condition)
    return {"test_calc.py": text, "pytest.ini": "[pytest]\n"}


def furnish(bot: RunningBot, files: dict[str, str | bytes | None], *, recorded: bool = True, **policy: Any) -> str:
    """The default branch with these files, whose test is pytest; the base's commit. `recorded` notes what runs."""
    command = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider"
    command = f"{bot.recorded('test')} && {command}" if recorded else command
    return bot.furnish(files, checks={"test": {"command": command, "timeout": 3000}}, **policy)


def run_count(bot: RunningBot, name: str) -> int:
    log = bot.root / f"{name}.log"
    return len(log.read_text()) if log.exists() else 0


@pytest.mark.parametrize(
    ("condition", "conclusion", "title", "figures"),
    [
        ("HEAD", "failure", "1 new failing test: `test_calc.py::test_one`", ("failed 4 of 4", "passed 4 of 4")),
        ("True", "neutral", "1 existing failure", ("failed 3 of 3", "not from this pull request")),
        ("HEAD and number == 0", "neutral", "1 unsure", ("failed 1 of 9", "passed 9 of 9", "do not show the cause")),
        ("HEAD and number % 3 != 1", "neutral", "1 new flaky failure", ("passed 6 of 6", "a warning")),
    ],
)
def test_the_verdict_follows_from_runs_on_head_and_base(
    do: WithBot, condition: str, conclusion: str, title: str, figures: tuple[str, ...]
) -> None:
    """REQ-PROOF-004."""

    async def work(bot: RunningBot) -> None:
        furnish(bot, project(bot, condition))
        _, sha = bot.open({"head.txt": "1\n"})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title.startswith(title)) == (conclusion, True), run.summary
        assert [words for words in figures if words not in run.summary] == []
        assert run.summary.count("it broke") <= 4  # the list, the excerpt of the log and no more
        assert ("fix" in {action["identifier"] for action in run.actions}) is (conclusion == "failure")
        # only the failing test ran again, not the other one
        assert (run_count(bot, "other-head"), run_count(bot, "other-base")) == (1, 1)
        assert run_count(bot, "one-head") > 1

    do(work)


def test_a_failing_test_that_the_pull_request_adds_is_new(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        furnish(bot, project(bot, "False"))
        _, sha = bot.open({"head.txt": "1\n", "test_more.py": "def test_more():\n    assert 1 == 2\n"})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title) == ("failure", "1 new failing test: `test_more.py::test_more`")
        assert "failed 4 of 4 on" in run.summary and "not in [" in run.summary

    do(work)


def test_a_flaky_test_that_the_pull_request_adds_fails_the_check(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        furnish(bot, {"test_base.py": "def test_base():\n    pass\n", "pytest.ini": "[pytest]\n"})
        added = project(bot, "number == 0")
        _, sha = bot.open({"head.txt": "1\n", **added})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title) == ("failure", "1 new flaky failure: `test_calc.py::test_one`")
        assert "changes the test" in run.summary

    do(work)


def test_a_test_that_was_flaky_on_the_base_branch_is_flaky_before(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        furnish(bot, project(bot, "number % 3 == (0 if HEAD else 1) or (number % 3 == 2 and not HEAD)"))
        memory = bot.at.context.stores.test_runs
        for number in range(25):
            for outcome in ({"failed": [UNIT], "passed": []}, {"failed": [], "passed": [UNIT]}):
                await memory.add(NAME, "test", (f"{number:040x}", "base"), **outcome)
        _, sha = bot.open({"head.txt": "1\n"})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title) == ("neutral", "1 flaky before: `test_calc.py::test_one`")
        assert "failed 25 of 50 on earlier commits of the base branch" in run.summary

    do(work)


def test_what_a_pull_request_showed_of_the_base_is_remembered_for_the_next(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        furnish(bot, project(bot, "HEAD"))
        _, first = bot.open({"head.txt": "1\n"}, branch="one")
        await bot.quiet()
        on_base = run_count(bot, "one-base")
        _, second = bot.open({"head.txt": "2\n"}, branch="two")
        await bot.quiet()
        assert run_count(bot, "one-base") == on_base == 4
        assert bot.checks(first)["test"].title == bot.checks(second)["test"].title
        assert "passed 4 of 4 on" in bot.checks(second)["test"].summary

    do(work)


def test_most_tests_failing_without_a_base_to_compare_with_is_a_broken_setup(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        tests = "".join(f"def test_{number}():\n    assert False, 'no database'\n\n\n" for number in range(6))
        furnish(bot, {"test_calc.py": tests, "pytest.ini": "[pytest]\n"}, setup="test -e head.txt")
        number, sha = bot.open({"head.txt": "1\n"})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title) == ("failure", "Setup is broken: 6 of 6 tests fail")
        assert "No failure has a verdict" in run.summary
        assert [action["identifier"] for action in run.actions] == ["rerun_failed"]
        outcomes = await bot.at.context.stores.outcomes.of_pull(NAME, number)
        assert [one.stage for one in outcomes if one.stage == "test"] == []  # nothing is learned
        known = await bot.at.context.stores.outcomes.rate(NAME, "test")
        assert known.runs == 0

    do(work)


def test_a_change_that_breaks_every_test_is_guilty(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        tests = "".join(f"def test_{number}():\n    import calc\n\n\n" for number in range(6))
        furnish(bot, {"test_calc.py": tests, "calc.py": "", "pytest.ini": "[pytest]\npythonpath = .\n"})
        _, sha = bot.open({"calc.py": "import nothing_of_that_name\n"})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title) == ("failure", "6 new failing tests")

    do(work)


def test_a_commit_of_a_merge_queue_gets_the_same_verdicts(do: WithBot) -> None:
    """REQ-PROOF-004."""

    async def work(bot: RunningBot) -> None:
        furnish(bot, project(bot, "HEAD and number == 0"))
        number, _ = bot.open({"head.txt": "1\n"})
        await bot.quiet()
        for log in bot.root.glob("*-head.log"):
            log.unlink()
        sha = bot.world.enqueue_pull(NAME, number, "ada")
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title) == ("neutral", "1 unsure: `test_calc.py::test_one`")

    do(work)


def test_a_test_that_executes_no_changed_line_is_not_reached(do: WithBot) -> None:
    """REQ-PROOF-004."""

    async def work(bot: RunningBot) -> None:
        furnish(bot, {**project(bot, "HEAD"), "unused.py": "def unused():\n    return 1\n"}, recorded=False)
        _, sha = bot.open({"unused.py": "def unused():\n    return 2\n"})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title) == ("neutral", "1 not reached: `test_calc.py::test_one`"), run.summary
        assert "it executes no line that this pull request changes" in run.summary

    do(work)


def test_a_flaky_failure_of_code_that_the_pull_request_changes_fails_the_check(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        text = project(bot, "False")["test_calc.py"]
        assert isinstance(text, str)
        text = text.replace("assert not (False)", "import calc\n    assert calc.answer(number) == 42")
        stable = "def answer(number):\n    return 42\n"
        files = {"test_calc.py": text, "calc.py": stable, "pytest.ini": "[pytest]\npythonpath = .\n"}
        furnish(bot, files, recorded=False)
        _, sha = bot.open({"calc.py": stable.replace("return 42", "return 42 + (number % 3 != 1)")})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title) == ("failure", "1 new flaky failure: `test_calc.py::test_one`"), run.summary
        assert "a line that it executes" in run.summary

    do(work)


def test_a_test_that_the_pull_request_adds_runs_ten_times_though_it_passes(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        base = furnish(bot, {"test_base.py": "def test_base():\n    pass\n", "pytest.ini": "[pytest]\n"})
        _, sha = bot.open({"head.txt": "1\n", **project(bot, "number == 6")})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title) == ("failure", "1 new flaky failure: `test_calc.py::test_one`"), run.summary
        assert "failed 1 of 7 on" in run.summary and "not in [" in run.summary
        assert (run_count(bot, "one-head"), run_count(bot, "other-head")) == (7, 10)
        assert bot.executed(base) == ["test"]

    do(work)
