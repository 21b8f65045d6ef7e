"""The setup of a project: what its checks need, the plan that installs it, and the steps that have ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.model.base import Model


@dataclass(frozen=True, slots=True)
class NeededSetup:
    """Why a check cannot run before the project is set up, and the shell command that would do it.

    `because` is `dependencies` (`what` is the file that declares them), `name` (`what` is the package of Mendbot's
    tools that the project itself is or provides) or `tool` (`what` is missing from the environment at `place`, a path
    relative to the tree). `command` runs in the tree, with network."""

    because: Literal["dependencies", "name", "tool"]
    what: str
    command: str
    place: str = ""


class WantedProgram(Model):
    """A program that the machine may lack, such as `pnpm`. `version` is exact, or "" for any; `digest` is its digest
    from the `packageManager` field (`sha512.HEX`), or ""."""

    name: str
    version: str = ""
    digest: str = ""


class SetupStep(Model):
    """One command of a setup, run as `sh -c` in the tree.

    `because` is the file that requires the step, relative to the tree. Only a step with `network` has the network.
    Detected steps run no code of the project or of a package while they have the network (T31).
    `shared`: the result depends on the content of the files `reads` alone (each a file, a directory, or a glob as in
    `protected_paths`), so it is cached for other trees of the repository. `products` are the paths that it makes,
    relative to the tree; where one exists already, the cache is not used. A failed `optional` step is recorded and
    does not end the setup."""

    run: str | tuple[str, ...]
    because: str
    network: bool = False
    shared: bool = False
    reads: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    programs: tuple[WantedProgram, ...] = ()
    optional: bool = False
    builds: bool = False
    """It builds the project's own code, so it must be run again after each change of that code."""
    title: str = ""
    """The text that a person reads in place of a long script."""

    @property
    def text(self) -> str:
        """The command as a person reads it."""
        return self.title or (self.run if isinstance(self.run, str) else " ".join(self.run))


class SetupPlan(Model):
    """The steps that set up a tree, in order; none where nothing needs to be installed.

    `configured`: the plan is the repository's own `setup`, which is one step with network."""

    steps: tuple[SetupStep, ...] = ()
    configured: bool = False


class SetupDone(Model):
    """A step of a setup that has ended, for events and reports; `command` is masked text.

    `kept`: its result came from the cache of an earlier setup, so it was not run again."""

    command: str
    because: str = ""
    passed: bool = True
    kept: bool = False
    optional: bool = False
    duration_ms: int = 0
