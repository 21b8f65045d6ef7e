"""`mendbot init`: writes a first `.github/mendbot.yml` with what is found in the project's files."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from bot.cli.arguments import Flag, GivenPath
from bot.cli.directories import absolute, directory_problem, repository_around
from bot.cli.exits import PASSED
from bot.cli.output import note, say
from bot.cli.plan import plan_of
from bot.config import POLICY_PATH, terminal_language
from bot.errors import UserError
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason


def init(path: GivenPath = Path(), *, dry_run: Flag = False) -> int:
    """Write .github/mendbot.yml with the setup and the checks that are found.

    They are comments: an untouched file keeps the defaults. A file that exists is never overwritten.

    Parameters
    ----------
    path
        a directory of the project; the working directory by default
    dry_run
        print the file on stdout and write nothing
    """
    from bot.reports.onboarding.repo_file import repo_file

    where, language = absolute(path), terminal_language()
    if (problem := directory_problem(where)) is not None:
        raise user_error(make_reason("cli.give_project", problem=problem))
    top = repository_around(where) or where
    target = top / POLICY_PATH
    if not dry_run and os.path.lexists(target):
        raise _exists(target)
    text = repo_file(asyncio.run(plan_of(top, ())), language)
    if dry_run:
        say(text.rstrip("\n"))
        return PASSED
    _write(target, text)
    note(t(language, "init.written", path=target))
    return PASSED


def _exists(target: Path) -> UserError:
    return user_error(make_reason("init.exists", path=str(target)))


def _write(target: Path, text: str) -> None:
    """Write a new file; raises UserError if there is one by now, or if it cannot be written."""
    try:
        target.parent.mkdir(exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise _exists(target) from None
    except OSError as error:
        raise user_error(make_reason("init.unwritable", path=str(target), error=error.strerror or "")) from None
