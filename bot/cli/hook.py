"""`mendbot hook install`: writes the hooks into the settings of a coding agent, and removes them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from cyclopts import App

from bot.cli.arguments import Flag, GivenPath
from bot.cli.directories import absolute, directory_problem, repository_around
from bot.cli.exits import PASSED
from bot.cli.output import say
from bot.config import terminal_language
from bot.errors import UserError
from bot.reports.format.truncate import one_line
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

hook = App(name="hook", help="The hook for a coding agent of your own.", result_action="return_value")


@hook.command
def install(directory: GivenPath, *, undo: Flag = False) -> int:
    """Write Mendbot's hooks into an agent's local settings, which teams do not commit.

    In a project that is .claude/settings.local.json, in your home .claude/settings.json.

    Parameters
    ----------
    directory
        the project, or your home
    undo
        remove them again, also those of an earlier version
    """
    where = absolute(directory)
    if (problem := directory_problem(where)) is not None:
        raise user_error(make_reason("cli.give_project", problem=problem))
    if undo:
        _undo(where)
    else:
        _install(where)
    return PASSED


def _install(where: Path) -> None:
    from bot.agent.hook_install import install as write
    from bot.agent.hook_install import older_installation

    older = older_installation(where)
    path = write(where)
    language = terminal_language()
    say(t(language, "hook.installed", path=path))
    if path.name != "settings.json" and repository_around(where.resolve()) is None:
        say(t(language, "hook.no_repository", path=one_line(str(where))))
    if older is not None:
        say(t(language, "hook.older", path=older))
    if path.name != "settings.json" and asyncio.run(_may_be_committed(path)):
        say(t(language, "hook.not_ignored", name=path.name))


def _undo(where: Path) -> None:
    from bot.agent.hook_install import settings_path, uninstall

    removed, language = uninstall(where), terminal_language()
    for path in removed:
        say(t(language, "hook.removed", path=path))
    if not removed:
        say(t(language, "hook.nothing_to_undo", path=settings_path(where).parent))


async def _may_be_committed(path: Path) -> bool:
    """Whether git would list the file as new. Outside of a repository it would not, nor if the user's own list of
    ignored files names it: the coding agent adds it there."""
    from bot.workspace.git.command import GitError, git

    own = {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}
    try:
        new = await git("ls-files", "-z", "--others", "--exclude-standard", "--", path.name, cwd=path.parent, env=own)
        return bool(new)
    except (GitError, UserError):
        return False  # the hook is in place whatever git says
