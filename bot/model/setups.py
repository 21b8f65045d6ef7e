"""What a project lacks before its checks can run, and the plan that installs it."""

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
    """A program that the machine may lack, such as `pnpm`. `version` is exact, or "" for any; `digest` is what the
    `packageManager` field says of it (`sha512.HEX`), or ""."""

    name: str
    version: str = ""
    digest: str = ""


class SetupStep(Model):
    """One command of a setup, run as `sh -c` in the tree.

    `because` is the file that asks for it, relative to the tree. Only a step with `network` has the network. Steps that
    were detected run no code of the project or of a package while they have it (T31).
    `shared`: what it makes follows from the content of the files `reads` alone (each a file, a directory, or a glob as
    in `protected_paths`), so it may be kept and given to other trees of the repository. `products` are the paths that
    it makes, relative to the tree; where one is there already, nothing kept is given. A failed `optional` step is noted
    and does not end the setup."""

    run: str | tuple[str, ...]
    because: str
    network: bool = False
    shared: bool = False
    reads: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    programs: tuple[WantedProgram, ...] = ()
    optional: bool = False
    builds: bool = False
    """It makes what tests load of the project's own code, so it must be run again after each change of that."""
    title: str = ""
    """What a person reads in place of a long script."""

    @property
    def text(self) -> str:
        """The command as a person reads it."""
        return self.title or (self.run if isinstance(self.run, str) else " ".join(self.run))


class SetupPlan(Model):
    """How a tree is set up: its steps in order, none where nothing is to be installed.

    `configured`: the repository's own `setup`, which is one step with network."""

    steps: tuple[SetupStep, ...] = ()
    configured: bool = False


class SetupDone(Model):
    """A step of a setup that has ended, as events and reports tell of it; `command` is masked text.

    `kept`: what it makes had been kept from an earlier setup, so it was not run again."""

    command: str
    because: str = ""
    passed: bool = True
    kept: bool = False
    optional: bool = False
    duration_ms: int = 0
