"""What a project lacks before its checks can run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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
