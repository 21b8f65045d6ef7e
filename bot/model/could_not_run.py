"""Why a check could not run at all, which is another thing than that it failed."""

from __future__ import annotations

from typing import Literal

from bot.model.base import CamelModel
from bot.model.setups import NeededSetup

Hindrance = Literal[
    "not_found", "not_executable", "no_module", "no_script", "no_target", "no_file", "not_started", "not_set_up"
]


class CouldNotRun(CamelModel):
    """What kept a command from starting; `what` names it: the program, the Python module, the package script, the make
    target, the file, or for `not_started` the system's own words.
    `setup` is what a project lacks that is `not_set_up`: its command was not started."""

    hindrance: Hindrance
    what: str = ""
    setup: NeededSetup | None = None
