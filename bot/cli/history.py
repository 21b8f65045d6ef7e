"""`mendbot history`: reads the error history, adds to it, exports and imports it."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

from cyclopts import App, Parameter

from bot.cli.arguments import Flag, Text
from bot.cli.exits import BAD_INPUT, NOT_PASSED, PASSED
from bot.cli.output import complain, print_json
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

if TYPE_CHECKING:
    from bot.config import Settings
    from bot.model import KnownError
    from bot.model.guidance_trial import GuidanceTrial
    from bot.store.history.import_export import Imported

MAX_ERROR_BYTES = 1_000_000
"""The fingerprint comes from the first line or two."""
_COMMIT = re.compile("[0-9A-Fa-f]{4,64}")
_REPO = re.compile(r"[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}")  # GitHub's rules for names

Texts = Annotated[tuple[str, ...], Parameter(allow_leading_hyphen=True, negative="")]

history = App(
    name="history",
    help="What resolved which error: by file, by error, and more.",
    usage="Usage: mendbot history FILE | --error TEXT [--json]\n       mendbot history record|trial|export|import …",
    result_action="return_value",
)


@history.default
def look_up(file: str | None = None, /, *, error: Text | None = None, json: Flag = False) -> int:
    """Tell how errors were resolved before.

    Parameters
    ----------
    file
        a file name, in any directory; ./record for one called `record`
    error
        this error, as a check or a tool printed it; - reads stdin
    json
        print one JSON document instead of lines
    """
    from bot.config import load_settings
    from bot.reports.history.guidance import as_json, listing
    from bot.rules.history.known_errors import base_name

    if (file is None) == (error is None):
        raise user_error(make_reason("cli.history.file_or_error"))
    if file is not None and not base_name(file):
        raise user_error(make_reason("cli.history.directory"))
    text = None if error is None else _error_text(error)
    settings = load_settings()
    errors = asyncio.run(_look_up(settings, file, text))
    if json:
        print_json({"errors": as_json(errors)})
    else:
        print(listing(errors, settings.language, of_file=file is not None))
    return PASSED if errors else NOT_PASSED


@history.command
def record(
    *,
    error: Text,
    how: Text,
    file: Annotated[Texts, Parameter(name="--file")] = (),
    commit: str | None = None,
    tool: Annotated[Texts, Parameter(name="--tool")] = (),
    by: Text = "",
    repo: str | None = None,
    json: Flag = False,
) -> int:
    """Remember how an error was resolved. What looks like a secret is masked.

    Parameters
    ----------
    error
        the error, as a check or a tool printed it; - reads stdin
    how
        what made it go away, in your words
    file
        a file that it is about; repeatable
    commit
        the commit that resolved it
    tool
        a step on the way, such as Read or Edit; several in their order
    by
        who resolved it
    repo
        OWNER/NAME; only runs of that repository see it
    json
        print one JSON document instead of a line
    """
    from bot.app.known_secrets import known_secrets
    from bot.config import load_settings
    from bot.model import Resolution
    from bot.reports.history.guidance import recorded
    from bot.store.history.standalone import record_resolution

    text = _error_text(error)
    _check_resolution(how, commit)
    _check_repo(repo)
    settings = load_settings()
    resolution = Resolution(
        resolved_by=by, tool=tool[-1] if tool else "", tool_sequence=tool, how=how, repo=repo, commit=commit
    )
    kb_id = asyncio.run(record_resolution(settings, known_secrets(settings), text, resolution, file))
    print_json({"id": kb_id}) if json else print(recorded(kb_id, settings.language))
    return PASSED


@history.command
def trial(*, repo: Text | None = None, json: Flag = False) -> int:
    """Show whether agents fix more with what the history knows than without it.

    Parameters
    ----------
    repo
        only the runs of this repository, OWNER/NAME
    json
        print one JSON document instead of lines
    """
    from bot.config import load_settings
    from bot.reports.history.guidance_trial import trial_text

    _check_repo(repo)
    settings = load_settings()
    figures = asyncio.run(_trial(settings, repo))
    if json:
        print_json(figures.model_dump(mode="json", by_alias=True))
    else:
        print(trial_text(figures, settings.language))
    return PASSED


@history.command
def export() -> int:
    """Print the whole history as JSON lines, for `mendbot history import`."""
    from bot.config import load_settings

    settings = load_settings()
    try:
        asyncio.run(_export(settings, sys.stdout.buffer))
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # `| head` has read enough; what is still buffered must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PASSED


@history.command(name="import")
def import_(file: Annotated[str, Parameter(allow_leading_hyphen=True)] = "-", /) -> int:
    """Take what `mendbot history export` printed; lines that can't be read are named.

    Parameters
    ----------
    file
        JSON lines; - reads stdin
    """
    from bot.config import load_settings
    from bot.reports.history.guidance import imported

    settings = load_settings()
    with _source(file) as lines:
        done = asyncio.run(_import(settings, lines))
    print(imported(done.taken, done.refused, settings.language, more=done.more_refused))
    if not done.refused:
        return PASSED
    if done.taken:
        return NOT_PASSED
    complain(t(settings.language, "history.nothing_taken"))
    return BAD_INPUT


def _check_resolution(how: str, commit: str | None) -> None:
    """Raises UserError for an empty text, and for a commit that is no SHA."""
    if not how.strip():
        raise user_error(make_reason("cli.history.no_how"))
    if commit is not None and not _COMMIT.fullmatch(commit):
        raise user_error(make_reason("cli.history.commit"))


def _check_repo(repo: str | None) -> None:
    """Raises UserError if the repository is given and is not OWNER/NAME."""
    if repo is not None and not _REPO.fullmatch(repo):
        raise user_error(make_reason("cli.history.repo"))


def _error_text(error: str) -> str:
    """The error, from stdin for `-`; raises UserError for one without text."""
    from bot.rules.failures.normalize import normalize_error

    text = sys.stdin.buffer.read(MAX_ERROR_BYTES).decode("utf-8", "replace") if error == "-" else error
    if not normalize_error(text):
        raise user_error(make_reason("cli.history.no_text"))
    return text


def _source(file: str) -> AbstractContextManager[BinaryIO]:
    if file == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(file).expanduser().open("rb")
    except (OSError, RuntimeError) as error:  # RuntimeError: `~nobody`
        why = getattr(error, "strerror", None) or str(error)
        raise user_error(make_reason("cli.unreadable_file", path=file, error=why)) from error


async def _look_up(settings: Settings, file: str | None, error: str | None) -> tuple[KnownError, ...]:
    from bot.store.history.standalone import errors_like, errors_of_file

    if file is not None:
        return await errors_of_file(settings, file)
    return () if error is None else await errors_like(settings, error)


async def _trial(settings: Settings, repo: str | None) -> GuidanceTrial:
    from bot.model.guidance_trial import GuidanceTrial
    from bot.store.database.open import database_url, reading
    from bot.store.history.trials import GuidanceTrials

    async with reading(database_url(settings)) as database:
        return GuidanceTrial() if database is None else await GuidanceTrials(database).figures(repo)


async def _export(settings: Settings, out: BinaryIO) -> None:
    from bot.store.database.open import database_url, reading
    from bot.store.history.import_export import export_lines

    async with reading(database_url(settings)) as database:
        if database is not None:
            async for line in export_lines(database):
                out.write(line.encode() + b"\n")


async def _import(settings: Settings, lines: BinaryIO) -> Imported:
    from bot.app.known_secrets import known_secrets
    from bot.store.database.open import database_url, writing
    from bot.store.history.import_export import import_lines, lines_of

    async with writing(database_url(settings)) as database:
        return await import_lines(database, lines_of(lines), known_secrets(settings))
