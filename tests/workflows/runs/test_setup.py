"""A run sets a project up by its own files before the first check, and chooses its checks after that."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from bot.config import Policy
from bot.model import Status
from bot.reports.locale.reasons import english
from bot.workflows.checks.setup import get_cache
from bot.workflows.runs.begin import begin_run, open_tree, set_up
from tests.workflows.conftest import NAME, Harness
from tests.workflows.npm_projects import npm_files
from tests.workflows.whole_run import Doer, through, told, writes

AtDesk = Callable[..., Any]


def _furnish(at: Harness, **package: object) -> None:
    at.github.world.push_files(NAME, "main", npm_files(**package), "Furnish", "ada")


async def _run(at: Harness) -> None:
    await at.run("run-1", at.issue("The answer is wrong"), policy=Policy())


def test_a_project_is_set_up_without_configuration_and_its_checks_are_chosen_after_that(at_desk: AtDesk) -> None:
    """G-3."""

    async def work(at: Harness) -> None:
        _furnish(at)
        at.hands = [Doer([writes("42\n")])]
        await _run(at)
        state = await through(at, "run-1")
        assert state.finished is Status.SUCCESS, state.stop
        (started,), (done,) = await told(at, "run-1", "setup_started"), await told(at, "run-1", "setup_completed")
        assert {step["because"] for step in started.data()["steps"]} == {"package.json"}
        assert "npm install" in started.data()["command"]
        assert {(step.because, step.passed) for step in state.setup} == {("package.json", True)}
        before = next(event for event in await at.runs.events("run-1") if event.type == "phase_started")
        commands = [{one["name"]: bool(one["command"]) for one in event.data()["stages"]} for event in (before, done)]
        assert [each["typecheck"] for each in commands] == [False, True], "tsc is installed by the setup"
        assert state.baseline is not None
        assert [step.passed for step in state.baseline.steps if step.stage != "lint"] == [True, False]
        assert state.changed_paths == ("answer.txt",)

    at_desk(work)


BUILD = "node -e \"fs.mkdirSync('dist', {recursive: true}); fs.writeFileSync('dist/index.js', 'module.exports = ' + \
JSON.stringify(fs.readFileSync('answer.txt', 'utf8')))\""
LOADS_THE_BUILD = """\
if (require("tiny") !== require("right")) {
  console.log("answer.txt:1: error: the answer is wrong");
  process.exit(1);
}
"""


def test_a_change_is_judged_by_what_is_built_from_it(at_desk: AtDesk) -> None:
    """G-3."""

    async def work(at: Harness) -> None:
        files = npm_files(exports="./dist/index.js", scripts={"build": BUILD, "test": "node test.js"})
        files |= {"test.js": LOADS_THE_BUILD, ".gitignore": "node_modules/\ndist/\n"}
        at.github.world.push_files(NAME, "main", files, "Furnish", "ada")
        at.hands = [Doer([writes("42\n")])]
        await _run(at)
        state = await through(at, "run-1")
        assert state.finished is Status.SUCCESS, state.stop
        commands = {step.command for step in state.validations[-1].steps if step.stage == "test"}
        assert commands == {"npm run build && npm test"}

    at_desk(work)


def test_a_worktree_that_was_lost_is_set_up_again_by_the_same_plan(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        _furnish(at)
        await _run(at)
        row = await at.row("run-1")
        await begin_run(at.context, row)
        await set_up(at.context, row, await at.state("run-1"))
        tree = at.context.tree_path(row)
        shutil.rmtree(tree)
        await open_tree(at.context, row, await at.state("run-1"))
        assert (tree / "node_modules" / "right" / "index.js").is_file()

    at_desk(work)


def test_a_setup_that_fails_ends_the_run_before_any_agent_with_the_command_and_its_error(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        _furnish(at, dependencies={"right": "file:./packages/gone.tgz"})
        doer = Doer([writes("42\n")])
        at.hands = [doer]
        await _run(at)
        state = await through(at, "run-1")
        assert state.stop is not None
        assert state.stop.reason == "setup_failed"
        assert "npm install" in english(state.stop.details)
        assert doer.told == []

    at_desk(work)


def test_a_setup_that_lacks_a_program_names_it_and_the_remedy(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        await at.run("run-1", at.issue(), policy=Policy.model_validate({"setup": "no-such-manager install"}))
        state = await through(at, "run-1")
        assert state.stop is not None
        assert "no-such-manager was not found" in english(state.stop.details)
        assert "MENDBOT_TOOLCHAINS" in english(state.stop.details)

    at_desk(work)


def test_products_of_the_default_branch_are_shared_and_others_serve_their_commit_alone(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> None:
        main = await get_cache(at.context, at.repo, "main", "a" * 40)
        other = await get_cache(at.context, at.repo, "develop", "a" * 40)
        head = await get_cache(at.context, at.repo, None, "b" * 40)
        assert [main.head, other.head, head.head] == ["", "a" * 40, "b" * 40]
        assert main.repo == NAME and main.directory == at.context.settings.home / "dependencies"

    at_desk(work)
