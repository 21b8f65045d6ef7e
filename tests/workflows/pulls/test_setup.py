"""Checks of a pull request in the tree that setup prepared: what it made stays, what a check alters is restored, and a
check that could not run is said to."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.workspace.git.command import git
from demo.standin.server import StandIn
from tests.workflows.conftest import NAME, ScriptedAgent
from tests.workflows.npm_projects import npm_files
from tests.workflows.pull_bot import EXISTING_RUNS, RunningBot, WithBot, with_bot

SETUP = (
    "mkdir -p .venv/bin node_modules/left && printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/tool && "
    "chmod +x .venv/bin/tool && echo x > node_modules/left/index.js && echo made > generated.txt && "
    "echo rewritten >> style.txt"
)
NEEDS = "\n".join(
    (
        "import os, pathlib, subprocess",
        "subprocess.run(['.venv/bin/tool'], check=True)",
        "assert pathlib.Path('node_modules/left/index.js').exists() and pathlib.Path('generated.txt').exists()\n",
    )
)


@pytest.fixture
def do(github: StandIn, tmp_path: Path) -> WithBot:
    return with_bot(github, tmp_path)


def test_what_setup_made_is_there_for_every_check_of_head_and_base(do: WithBot) -> None:
    """Though no `.gitignore` names it."""

    async def work(bot: RunningBot) -> None:
        files = {"lint.py": f"{NEEDS}import sys\nsys.exit(pathlib.Path('style.txt').read_text() != 'fine\\n')\n"}
        base = bot.furnish({**files, "wrong.txt": "old trouble\n"}, setup=SETUP)
        test = f"{NEEDS}print('wrong.txt:1: error: old trouble')\nraise SystemExit(1)\n"
        _, sha = bot.open({"test.py": test})
        await bot.quiet()
        assert bot.conclusions(sha) == {"lint": "success", "test": "neutral", "typecheck": "skipped"}
        assert bot.executed(sha) == ["lint", *EXISTING_RUNS] and bot.executed(base) == EXISTING_RUNS

    do(work)


def test_what_one_check_builds_is_there_for_the_next_and_what_it_alters_is_restored_and_told(do: WithBot) -> None:
    """REQ-PROOF-003."""
    rewrites = "import pathlib\npathlib.Path('dist').mkdir()\npathlib.Path('dist/out').touch()\n"
    rewrites += "pathlib.Path('style.txt').write_text('linted')\npathlib.Path('notes.txt').unlink()\n"
    uses = "import pathlib\nassert pathlib.Path('dist/out').exists()\n"
    uses += "assert pathlib.Path('style.txt').read_text() == 'fine\\n' and pathlib.Path('notes.txt').exists()\n"

    async def work(bot: RunningBot) -> None:
        bot.furnish({"lint.py": rewrites, "test.py": uses})
        _, sha = bot.open({"notes.txt": "new\n"})
        await bot.quiet()
        assert bot.conclusions(sha) == {"lint": "success", "test": "success", "typecheck": "skipped"}
        assert "The check `lint` changed `notes.txt` and `style.txt` while it ran" in bot.checks(sha)["lint"].summary
        assert "while it ran" not in bot.checks(sha)["test"].summary

    do(work)


def test_a_check_whose_tool_the_pull_request_took_away_could_not_run(do: WithBot) -> None:
    """H-2: it is neither new nor the base's."""

    async def work(bot: RunningBot) -> None:
        checks = {"test": {"command": ".venv/bin/judge"}, "lint": {"command": "python3 -m judging"}}
        made = "echo '#!/bin/sh' > .venv/bin/judge; chmod +x .venv/bin/judge"
        setup = f"mkdir -p .venv/bin; test ! -e requirements.txt || {{ {made}; }}"
        base = bot.furnish({"requirements.txt": "judge\n", "judging.py": ""}, checks=checks, setup=setup)
        _, sha = bot.open({"requirements.txt": None, "judging.py": None})
        await bot.quiet()
        for name, what in (("test", "`.venv/bin/judge` was not found"), ("lint", "Python module `judging`")):
            run = bot.checks(sha)[name]
            assert (run.conclusion, run.title) == ("failure", "Could not run")
            assert what in run.summary and "Install what it needs with `setup`" in run.summary
            assert f"The check ran on [`{base[:7]}`]" in run.summary
            assert "fix" not in {action["identifier"] for action in run.actions}

    do(work)


def test_a_check_that_can_run_neither_here_nor_on_the_base_is_no_failure_of_the_bases(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish(checks={"test": {"command": "no-such-runner"}})
        _, sha = bot.open({"notes.txt": "1\n"})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title) == ("failure", "Could not run")
        assert "The check could not run on the merge base either" in run.summary

    do(work)


def test_what_fails_where_the_base_could_not_run_is_new_and_says_why(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.furnish(checks={"test": {"command": "sh ./judge.sh"}})
        _, sha = bot.open({"judge.sh": "echo 'wrong.txt:1: error: it is wrong'; exit 1\n", "wrong.txt": "x\n"})
        await bot.quiet()
        run = bot.checks(sha)["test"]
        assert (run.conclusion, run.title) == ("failure", "1 new failure")
        assert "the check could not run on the merge base, so this counts as new" in run.summary

    do(work)


def test_a_fix_does_not_wait_for_a_check_that_cannot_run_and_claims_nothing_of_it(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        checks = {"lint": {"command": "no-such-linter"}, "test": {"command": "python3 test.py"}}
        bot.furnish(checks=checks)
        bot.at.hands.append(ScriptedAgent(lambda tree: (tree / "wrong.txt").write_text("") and None))
        number, sha = bot.open({"wrong.txt": "new trouble\n"})
        await bot.quiet()
        bot.world.press_button(bot.checks(sha)["test"].id, "fix", "ada")
        await bot.quiet()
        head = bot.head(number)
        assert head != sha
        found = bot.checks(head)
        assert (found["test"].conclusion, found["lint"].conclusion) == ("success", "failure")
        assert found["lint"].title == "Could not run"
        message = await git("log", "-1", "--format=%B", head, git_dir=bot.at.context.mirror(bot.at.repo))
        assert b"- python3 test.py" in message and b"no-such-linter" not in message

    do(work)


def test_head_and_base_are_set_up_by_their_own_files_without_configuration(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.world.push_files(NAME, "main", npm_files(), "Furnish", "ada")
        _, sha = bot.open({"note.txt": "new\n"})
        await bot.quiet()
        # `tsc` is found because setup comes first; the answer was wrong before
        assert bot.conclusions(sha) == {"lint": "skipped", "test": "neutral", "typecheck": "success"}
        summary = bot.checks(sha)["test"].summary
        assert "Set up by `npm install" in summary and "(`package.json`)" in summary

    do(work)


def test_a_head_that_needs_more_is_set_up_by_its_own_files_and_the_base_by_its_own(do: WithBot) -> None:
    async def work(bot: RunningBot) -> None:
        bot.world.push_files(NAME, "main", npm_files(), "Furnish", "ada")
        more = {
            "package.json": npm_files(dependencies={"right": "file:./packages/right", "left": "file:./packages/left"})[
                "package.json"
            ],
            "packages/left/package.json": '{"name": "left", "version": "1.0.0", "main": "index.js"}',
            "packages/left/index.js": "module.exports = 1;\n",
            "answer.txt": "42\n",
            "test.js": 'require("left");\nrequire("right");\n',
        }
        _, sha = bot.open(more)
        await bot.quiet()
        assert bot.conclusions(sha)["test"] == "success"

    do(work)
