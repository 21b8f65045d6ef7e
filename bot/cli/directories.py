"""Directories that the commands are given: which are usable, and which repository they lie in."""

from __future__ import annotations

import os
from pathlib import Path

from bot.model.reasons import Reason
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason


def directory_problem(path: Path) -> Reason | None:
    """Why the directory cannot be read (REQ-CHECK-006). `os.path` is used, as `Path` raises for very long names."""
    if not os.path.exists(path):  # noqa: PTH110
        return make_reason("cli.no_such_directory", path=str(path))
    if not os.path.isdir(path):  # noqa: PTH112
        return make_reason("cli.no_directory", path=str(path))
    return None if os.access(path, os.R_OK | os.X_OK) else make_reason("cli.unreadable_directory", path=str(path))


def repository_around(directory: Path) -> Path | None:
    """The working tree that a directory lies in; None outside of a repository."""
    return next((each for each in (directory, *directory.parents) if os.path.lexists(each / ".git")), None)


def absolute(path: Path) -> Path:
    """The absolute path, with `~` replaced; raises UserError for the home of a user who does not exist."""
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:  # `~nobody`
        raise user_error(make_reason("cli.no_home", path=str(path), error=str(error))) from None
