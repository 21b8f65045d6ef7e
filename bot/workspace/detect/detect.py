"""Finds the command of a check in a tree: from the repository's configuration, else by its files (spec A, Commands).

In a monorepo the nearest project file wins. Without a command, all that was looked for is listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot.config import CHECK_TIMEOUTS_S, POLICY_PATH, ChecksPolicy
from bot.model import CheckName, ShellCommand
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.workspace.detect.command_finders import FINDERS, GUESSES, needs
from bot.workspace.detect.monorepo import is_project, projects_above, projects_below
from bot.workspace.detect.package_managers import programs_called, programs_of
from bot.workspace.detect.python_finders import ruff_unasked
from bot.workspace.detect.target_finders import Argv
from bot.workspace.files.project_files import Project

MAX_FOCUS = 50
"""The number of paths in `focus` that are used, as they may come from untrusted text."""


@dataclass(frozen=True, slots=True)
class NoCommand:
    """There is no command for the check; `looked_for` lists where one would have been found."""

    check: CheckName
    looked_for: tuple[Reason, ...]


def detect(
    tree: Path,
    check: CheckName,
    policy: ChecksPolicy,
    focus: Sequence[str] = (),
    *,
    unasked: Callable[[str], bool] | None = None,
) -> ShellCommand | NoCommand:
    """The command for a check in `tree` (absolute) with its time limit in seconds; reads files and runs nothing.

    The repository's own command wins, then the tree's. `focus` names the files or directories of the task, relative to
    the tree: the nearest directory at or above one with a project file and a command comes before the tree. If they are
    in different projects, the tree's command wins, else the first one's. A tree without a project file has the command
    of the only project below it. A command runs in the tree and changes to its directory by itself (`npm --prefix
    DIR`), which is `ShellCommand.directory`. With `unasked`, which returns whether a program is installed, ruff may run
    in a Python project that has not chosen a linter. A broken file is named in `NoCommand.looked_for`, never raised."""
    own = policy.of(check)
    timeout_s = own.timeout or CHECK_TIMEOUTS_S[check]
    if own.command:
        programs = programs_called(Project(tree), own.command)
        return ShellCommand(run=own.command, timeout_s=timeout_s, report=own.report, programs=programs)
    search = _Search(tree, check, unasked)
    found = search.around(focus) or search.at(("",)) or search.below()
    if found is None:
        configured = make_reason("looked_for.configured", check=check, path=POLICY_PATH)
        return NoCommand(check, (configured, *search.looked_for()))
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
    """A command, its directory, and what has to be installed there (`ShellCommand.needs`)."""

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
    notes: list[Reason] = field(default_factory=list)

    def at(self, directories: Sequence[str]) -> _Found | None:
        """The command of the first of the directories that has one; guesses come last."""
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
            self.notes.append(make_reason("looked_for.one_project", count=len(places), projects=listed))
        return self.at(places) if len(places) == 1 else None

    def looked_for(self) -> Iterator[Reason]:
        """All that was looked for in vain in the tree, then in the projects below, with their directory."""
        top = self.projects[""].looked_for
        yield from top
        yield from self.notes
        for place, project in self.projects.items():
            yield from (make_reason("looked_for.in", what=what, place=place) for what in project.looked_for if place)


_GOES_TO = {"npm": "--prefix", "pnpm": "-C", "yarn": "--cwd", "make": "-C"}
"""The option by which a program changes its directory first (see its `--help`)."""


def _within(directory: str, argv: Argv) -> Argv:
    if not directory:
        return argv
    place = f"./{directory}" if directory.startswith("-") else directory
    option = _GOES_TO.get(argv[0])
    return (argv[0], option, place, *argv[1:]) if option else ("env", "-C", place, *argv)
