"""Which command runs a check in a tree: the repository's configuration, else what its files name (spec A, Commands).
In a monorepo the nearest project file wins; where nothing names a command, all that was looked for is listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot.config import CHECK_TIMEOUTS_S, POLICY_PATH, ChecksPolicy
from bot.model import CheckName, ShellCommand
from bot.workspace.detect.command_finders import FINDERS, GUESSES, needs
from bot.workspace.detect.monorepo import is_project, projects_above, projects_below
from bot.workspace.detect.package_managers import programs_called, programs_of
from bot.workspace.detect.python_finders import ruff_unasked
from bot.workspace.detect.target_finders import Argv
from bot.workspace.files.project_files import Project

MAX_FOCUS = 50
"""Paths of `focus` that are looked at: they may come from anybody's text."""


@dataclass(frozen=True, slots=True)
class NoCommand:
    """There is no command for the check; `looked_for` lists where one would have been found, a phrase each."""

    check: CheckName
    looked_for: tuple[str, ...]


def detect(
    tree: Path,
    check: CheckName,
    policy: ChecksPolicy,
    focus: Sequence[str] = (),
    *,
    unasked: Callable[[str], bool] | None = None,
) -> ShellCommand | NoCommand:
    """The command for a check in `tree` (absolute) with its time limit in seconds; reads files and runs nothing.

    The repository's own command wins, then the tree's. `focus` names files or directories, relative to the tree, that
    the work is about: the nearest directory at or above one that has a project file and a command comes before the
    tree; where they lie in different projects the tree's command is taken, else the first one's. A tree without any
    project file has the command of the only project below it. A command runs in the tree and goes to its directory
    by itself (`npm --prefix DIR`); `ShellCommand.directory` is which, for whoever reads its output. With `unasked`,
    which knows whether a program is there to run, a check that the project never chose (ruff for any Python project) is
    one. A broken or unreadable file is named in `NoCommand.looked_for`, never raised."""
    own = policy.of(check)
    timeout_s = own.timeout or CHECK_TIMEOUTS_S[check]
    if own.command:
        programs = programs_called(Project(tree), own.command)
        return ShellCommand(run=own.command, timeout_s=timeout_s, report=own.report, programs=programs)
    search = _Search(tree, check, unasked)
    found = search.around(focus) or search.at(("",)) or search.below()
    if found is None:
        return NoCommand(check, (f"`checks.{check}.command` in {POLICY_PATH}", *search.looked_for()))
    place = found.directory
    run = _within(place, found.argv)
    return ShellCommand(
        run=run,
        timeout_s=timeout_s,
        report=own.report,
        directory=place,
        needs=found.needs,
        programs=programs_of(Project(tree, place), found.argv),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A command, where it runs, and what has to be installed there (`ShellCommand.needs`)."""

    directory: str
    argv: Argv
    needs: str = ""


@dataclass(slots=True)
class _Search:
    """The projects of one tree that were looked at for one check."""

    tree: Path
    check: CheckName
    unasked: Callable[[str], bool] | None
    projects: dict[str, Project] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def at(self, directories: Sequence[str]) -> _Found | None:
        """The first of the directories that has a command, and that; what is only guessed at comes last."""
        looked = [self.projects.setdefault(place, Project(self.tree, place)) for place in directories]
        for finders in (FINDERS, GUESSES):
            for project in looked:
                for finder in finders:
                    argv = finder(project, self.check)
                    if argv is not None:
                        return _Found(project.directory, argv, needs(finder, self.check, argv))
        for project in looked if self.unasked else ():
            assert self.unasked is not None
            argv = ruff_unasked(project, self.check, self.unasked)
            if argv is not None:
                return _Found(project.directory, argv)
        return None

    def around(self, paths: Sequence[str]) -> _Found | None:
        each = (self.at(projects_above(self.tree, path)) for path in paths[:MAX_FOCUS])
        found = {one.directory: one for one in each if one is not None}
        if len(found) > 1 and (top := self.at(("",))) is not None:
            return top
        return next(iter(found.values()), None)

    def below(self) -> _Found | None:
        if is_project(self.tree):
            return None
        places = projects_below(self.tree)
        if len(places) > 1:
            listed = ", ".join(places[:5]) + (", …" if len(places) > 5 else "")
            self.notes.append(f"one project below the top (there are {len(places)}, {listed}; check one of them)")
        return self.at(places) if len(places) == 1 else None

    def looked_for(self) -> Iterator[str]:
        """Each phrase once: of projects below the tree only what the tree has not, with where."""
        top = self.projects[""].looked_for
        yield from top
        yield from self.notes
        for place, project in self.projects.items():
            yield from (f"{phrase} in {place}" for phrase in project.looked_for if place)


_GOES_TO = {"npm": "--prefix", "pnpm": "-C", "yarn": "--cwd", "make": "-C"}
"""The option by which a program goes to a directory first (each one's `--help`)."""


def _within(directory: str, argv: Argv) -> Argv:
    if not directory:
        return argv
    place = f"./{directory}" if directory.startswith("-") else directory
    option = _GOES_TO.get(argv[0])
    return (argv[0], option, place, *argv[1:]) if option else ("env", "-C", place, *argv)
