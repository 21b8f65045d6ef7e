"""`mendbot hook install`: the hooks into the settings of a coding agent, and out of them again."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from cyclopts import App

from bot.cli.exits import PASSED
from bot.cli.local import Flag, GivenPath, absolute, directory_problem, repository_around
from bot.cli.output import say
from bot.errors import UserError
from bot.reports.format.truncate import one_line

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
        raise UserError(f"{problem}; give the one that holds the project or your home")
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
    say(f"the hook stands in {path}")
    if path.name != "settings.json" and repository_around(where.resolve()) is None:
        say(f"{one_line(str(where))} is in no git repository: if you meant a project, give its directory")
    if older is not None:
        undo = "`mendbot hook install DIR --undo`, then install again"
        say(f"an earlier version wrote it into {older} too, which teams commit; to remove that, run {undo}")
    if path.name != "settings.json" and asyncio.run(_may_be_committed(path)):
        say(f"git does not ignore {path.name} here: add `.claude/{path.name}` to .gitignore")


def _undo(where: Path) -> None:
    from bot.agent.hook_install import settings_path, uninstall

    removed = uninstall(where)
    for path in removed:
        say(f"removed the hook from {path}")
    if not removed:
        say(f"nothing to undo: no hook of Mendbot's stands in {settings_path(where).parent}")


async def _may_be_committed(path: Path) -> bool:
    """Whether git would list the file as new; not so outside of a repository, or where the user's own list of what to
    ignore names it, which the agent itself adds it to."""
    from bot.workspace.git.command import GitError, git

    own = {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}
    try:
        new = await git("ls-files", "-z", "--others", "--exclude-standard", "--", path.name, cwd=path.parent, env=own)
        return bool(new)
    except (GitError, UserError):
        return False  # the hook is in place whatever git says
