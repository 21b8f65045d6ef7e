"""Runs only some tests of a check: those of given names, or those of given files.

pytest is asked by its plugin, which works through make, npm or a script; other runners by the arguments of their
command. A test that did not run has no outcome, whatever the command's exit status is."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from bot.model import ShellCommand
from bot.rules.test_results.selected_tests import selected_outcomes
from bot.rules.test_results.suite_result import CaseOutcome, SuiteResult
from bot.rules.test_runners.runner_arguments import Words
from bot.rules.test_runners.selection import (
    MAX_SELECTED,
    Selected,
    select_files,
    select_tests,
    simple_words,
    with_words,
)
from bot.workspace.checks.named_tests import Selection, asking
from bot.workspace.checks.step import StepRun
from bot.workspace.files.project_files import Project, quoted_directory
from bot.workspace.sandbox.bubblewrap import SandboxGrant

RunCommand = Callable[[ShellCommand, SandboxGrant], Awaitable[StepRun]]
"""Runs a command of a check with these grants."""

_Select = Callable[[Words], Selected | None]

_PYTEST_NAME = re.compile(r"\S[^:\n]*\.py(?:::.*)?$", re.DOTALL)
_OWN_ENVIRONMENT = re.compile(r"(?:^|[\s/])(?:tox|nox)(?:\s|$)")
"""Programs that hide the environment from what they start, and with it the request to select."""

_CHANGES_DIRECTORY = re.compile(r"cd (?P<directory>[\w./@+-]+) && (?P<rest>.+)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SingleTests:
    """A check's command that runs only some tests. `tests` are their names, if they were selected by name; `selection`
    is what pytest's plugin does beside the command."""

    command: ShellCommand
    tests: tuple[str, ...] = ()
    selection: Selection | None = None


@dataclass(frozen=True, slots=True)
class SingleTestsRun:
    """An execution of `SingleTests`: the step, the tests that ran, and the outcomes of those selected by name.

    `selected` is false where no such test was found, where pytest was not asked, and where the run was cut short. A
    selected test without an outcome did not run, or the runner does not name what passed."""

    run: StepRun
    suite: SuiteResult | None
    selected: bool
    outcomes: Mapping[str, CaseOutcome] = field(default_factory=dict)


def command_for_tests(command: ShellCommand, tests: Sequence[str], tree: Path) -> SingleTests | None:
    """The command that runs only the tests of these names, as `SuiteResult.outcomes` and failed tests give them.

    None where that is not certain: the whole check has to run."""
    names = tuple(dict.fromkeys(tests))
    if not 0 < len(names) <= MAX_SELECTED:
        return None
    if all(map(_PYTEST_NAME.match, names)):
        return _by_plugin(command, Selection(names=names), names)
    words = _edited(command, lambda own: select_tests(own, names), tree)
    if words is not None:
        return SingleTests(words, names)
    # a name without a file may be one of pytest's too
    return _by_plugin(command, Selection(names=names), names) if "pytest" in command.text else None


def command_for_files(command: ShellCommand, paths: Sequence[str], tree: Path) -> SingleTests | None:
    """The command that runs the tests of these files, which are relative to the tree; as `command_for_tests`.

    Go runs their packages. A file that the runner does not know as one of tests is passed over by it, or its error."""
    files = tuple(dict.fromkeys(paths))
    if not 0 < len(files) <= MAX_SELECTED:
        return None
    call = _call(command)
    below = f"{call.directory}/" if call is not None and call.directory else ""
    own = tuple(path.removeprefix(below) for path in files)
    if all(path.startswith(below) for path in files):
        words = _edited(command, lambda found: select_files(found, own), tree)
        if words is not None:
            return SingleTests(words)
    if not all(path.endswith(".py") for path in files) or "unittest" in command.text:
        return None
    return _by_plugin(command, Selection(files=tuple(tree / path for path in files)), ())


async def run_single_tests(
    tests: SingleTests, directory: Path, grant: SandboxGrant, run: RunCommand, mask: Callable[[str], str]
) -> SingleTestsRun:
    """Runs them once. `directory` is the bot's own, as for `asking`; `run` runs a command in the tree.

    Raises what `run` raises."""
    async with asking(directory, tests.selection) as asked:
        ended = await run(tests.command, asked.granted(grant))
        suite = await asyncio.to_thread(asked.answer, ended, mask)
        number = await asyncio.to_thread(asked.selected)
    shown = [failure.name for failure in ended.parsed.failures if failure.name]
    found = await asyncio.to_thread(selected_outcomes, tests.tests, suite, shown)
    some = bool(found) if tests.tests else suite is not None and suite.says_something
    selected = bool(number) if tests.selection is not None else some and not ended.step.cut_short
    return SingleTestsRun(ended, suite, selected, found)


def _by_plugin(command: ShellCommand, selection: Selection, names: tuple[str, ...]) -> SingleTests | None:
    if _OWN_ENVIRONMENT.search(command.text):
        return None
    return SingleTests(command, names, selection)


@dataclass(frozen=True, slots=True)
class _Call:
    """A command in parts: the directory where it runs, relative to the tree, and the call itself, as text for a shell
    or as words. `head` are words before it that change the directory, of which `shared` stand in the call too."""

    directory: str
    call: str | Words
    head: Words = ()
    shared: int = 0

    def rebuilt(self, edited: str | Words) -> str | Words:
        """The command with another call."""
        if isinstance(edited, tuple):
            return (*self.head, *edited[self.shared :])
        return f"cd {quoted_directory(self.directory)} && {edited}" if self.directory else edited


_OPTIONS = {("env", "-C"): 0, ("npm", "--prefix"): 1, ("pnpm", "-C"): 1, ("yarn", "--cwd"): 1}
"""How a detected command changes its directory (`workspace.detect.detect`), and how many words are of the call too."""


def _call(command: ShellCommand) -> _Call | None:
    """The parts of a command; None where it leaves the tree."""
    run = command.run
    if isinstance(run, str):
        moved = _CHANGES_DIRECTORY.match(run)
        found = _Call("", run) if moved is None else _Call(moved["directory"], moved["rest"])
    elif (shared := _OPTIONS.get((run[0], run[1]) if len(run) > 3 else ("", ""))) is not None:
        found = _Call(run[2], (*run[:shared], *run[3:]), run[:3], shared)
    else:
        found = _Call("", run)
    place = PurePosixPath(found.directory)
    if place.is_absolute() or ".." in place.parts:
        return None
    return replace(found, directory="" if str(place) == "." else str(place))


def _edited(command: ShellCommand, select: _Select, tree: Path) -> ShellCommand | None:
    """The command with the arguments that select, or with those of the package's script that it calls."""
    found = _call(command)
    words = found and (simple_words(found.call) if isinstance(found.call, str) else found.call)
    if found is None or not words:
        return None
    script = _script(words)
    selected = None if script is not None else select(words)
    edited: str | Words | None = None
    if script is not None:
        edited = _edited_script(found.call, words, _Script(Project(tree, found.directory), script), select)
    elif selected is not None:
        edited = with_words(found.call, selected) if isinstance(found.call, str) else selected.words
    return None if edited is None else command.model_copy(update={"run": found.rebuilt(edited)})


@dataclass(frozen=True, slots=True)
class _Script:
    """A script of a project's `package.json`."""

    project: Project
    name: str

    def text(self, name: str) -> str:
        return self.project.package().scripts.get(name, "")


def _script(words: Words) -> str | None:
    """The package's script that these words run without arguments; None for another command."""
    if words[0] not in ("npm", "pnpm", "yarn", "bun"):
        return None
    if words[1:] == ("test",) and words[0] != "bun":
        return "test"
    return words[2] if len(words) == 3 and words[1] in ("run", "run-script") else None


def _edited_script(call: str | Words, words: Words, script: _Script, select: _Select) -> str | Words | None:
    """The call of a script with more arguments; else, where options have to stand before others, the script itself."""
    text = script.text(script.name)
    own = simple_words(text)
    selected = select(own) if own else None
    if selected is None or selected.at is None:
        return None
    if selected.appended:
        added = (*(("--",) if words[0] == "npm" else ()), *selected.added)
        return f"{call.strip()} {shlex.join(added)}" if isinstance(call, str) else (*words, *added)
    if script.text(f"pre{script.name}"):
        return None  # what it prepares would be missing
    edited = with_words(text, selected)
    return edited and f'PATH="$PWD/node_modules/.bin:$PATH" {edited}'
