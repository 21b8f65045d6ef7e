"""`mendbot fix`: one session in a tree on this machine, from its task to its end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bot.cli.arguments import Flag, GivenPath, Number, Text
from bot.cli.directories import absolute
from bot.cli.exits import BAD_INPUT, NOT_PASSED, OUR_FAULT, PASSED
from bot.cli.output import complain, note, print_json, say
from bot.config import terminal_language
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import reason_text, user_error
from bot.rules.reasons import make_reason, quoted

if TYPE_CHECKING:
    from bot.app.local_session import FinishedSession, Listener
    from bot.config import Settings
    from bot.model import Language, Problem, RunEvent, SessionRequest

_OUR_FAULTS = frozenset({"internal_error", "gave_up"})
_NO_CHECKS = "no_checks"


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Limits:
    """How much a session may try.

    Parameters
    ----------
    max_attempts
        attempts at most
    candidates
        changes of an attempt, of which the best is taken; 1 to 5
    """

    max_attempts: Number = 3
    candidates: Number | None = None


def fix(
    *,
    task: Text,
    repo: GivenPath | None = None,
    file: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    test_command: Text | None = None,
    validation_command: Annotated[tuple[str, ...], Parameter(negative="", allow_leading_hyphen=True)] = (),
    agent: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    limits: Limits | None = None,
    json: Flag = False,
) -> int:
    """Work on a task until the tree's checks pass; otherwise the tree stays as it was.

    Parameters
    ----------
    task
        what to do
    repo
        the tree; by default the one around the working directory
    file
        a file that the task is about; repeatable
    test_command
        the test, run after the project's lint and typecheck
    validation_command
        what must pass, instead of those three; repeatable
    agent
        fixers, history, command:ARGV, claude, codex, …; repeatable
    json
        print one JSON document at the end, and no progress
    """
    tree, files = _around(file) if repo is None else (absolute(repo), file)
    limits = limits or Limits()
    checks = {"testCommand": test_command, "validationCommands": list(validation_command)}
    task_fields = {"task": task, "filePaths": list(files), "agents": list(agent)}
    counts = {"maxAttempts": limits.max_attempts, "candidates": limits.candidates}
    request = _request({"repo": str(tree), **task_fields, **counts, **checks})
    _require_files(tree, request.file_paths)
    from bot.config import load_settings
    from bot.reports.terminal.session import session_lines

    settings = load_settings()
    finished = asyncio.run(_run(settings, request, None if json else Progress(settings.language)))
    if json:
        print_json(_document(finished))
    else:
        for line in session_lines(finished.summary, settings.language):
            say(line)
    return _exit_code(finished)


def _around(files: Sequence[str]) -> tuple[Path, Sequence[str]]:
    """The working tree around the working directory (outside of a repository: that directory), and the files.

    A file that lies in the working directory is named relative to it, as on any command line."""
    from bot.workspace.detect.monorepo import top_and_focus

    here = Path.cwd()
    top, _ = top_and_focus(here)
    return top, [str((here / name).relative_to(top)) if _is_below(here, name) else name for name in files]


def _is_below(here: Path, name: str) -> bool:
    return bool(name.strip()) and ".." not in Path(name).parts and not name.startswith("/") and (here / name).exists()


def _require_files(tree: Path, files: Sequence[str]) -> None:
    """Raises UserError for a file that does not exist: the task would silently leave out a misspelt one."""
    if tree.is_dir() and (missing := [name for name in files if not os.path.lexists(tree / name)]):
        raise user_error(make_reason("cli.no_file", tree=str(tree), files=", ".join(missing)))


_OPTIONS = {
    "repo": "--repo",
    "task": "--task",
    "filePaths": "--file",
    "testCommand": "--test-command",
    "validationCommands": "--validation-command",
    "maxAttempts": "--max-attempts",
    "agents": "--agent",
    "candidates": "--candidates",
}


def _request(data: dict[str, object]) -> SessionRequest:
    from bot.rules.runs.session_request import parse_request

    parsed = parse_request(data)
    if isinstance(parsed, tuple):
        raise user_error(quoted(_in_options(parsed)))
    return parsed


def _in_options(problems: Sequence[Problem]) -> str:
    """All problems as one text, which names the options of the command line."""
    texts = [(each.field, reason_text(each.reason, terminal_language())) for each in problems]
    text = "; ".join(f"{_OPTIONS.get(field, field)}: {message}" for field, message in texts)
    for field, option in _OPTIONS.items():
        text = text.replace(f"`{field}`", f"`{option}`")
    return text


async def _run(settings: Settings, request: SessionRequest, on_event: Listener | None) -> FinishedSession:
    from bot.app.local_session import run_session
    from bot.logs import set_up_logs
    from bot.rules.runs.session_request import InvalidRequest

    set_up_logs("error" if settings.log_level == "info" else settings.log_level, settings.log_format)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    try:
        return await run_session(settings, request, on_event=on_event, on_wait=_print_waiting, stop=stop)
    except InvalidRequest as error:
        raise user_error(quoted(_in_options(error.problems))) from None


def _print_waiting(reason: str) -> None:
    # on stderr with `--json` too: a user who sees nothing happen must be able to learn why
    complain(t(terminal_language(), "cli.waits", reason=reason))


class Progress:
    """Prints a line on stderr for each event that a person wants to see."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._agent_started_at: datetime | None = None

    def __call__(self, event: RunEvent) -> None:
        from bot.reports.runs.event_lines import event_line

        if event.type == "agent_started":
            self._agent_started_at = event.ts
        line = event_line(event, self._language, since=self._agent_started_at)
        if line is not None:
            note(line)


def _document(finished: FinishedSession) -> dict[str, object]:
    """The session as HTTP gives it, with its events, its artifacts and the absolute paths of its files."""
    from bot.reports.locale.reasons import english_json
    from bot.web.sessions import artifact_json, session_json

    where = finished.summary.directory
    return {
        **session_json(finished.session),
        "artifactsPath": where,
        **({"diffPath": finished.summary.diff} if finished.summary.diff else {}),
        "events": [
            {**sent, "data": _with_paths(sent["data"], where)}
            for sent in (english_json(event.as_json()) for event in finished.events)
        ],
        "artifacts": [_with_paths(artifact_json(artifact), where) for artifact in finished.artifacts],
    }


def _with_paths(data: Mapping[str, object], where: str) -> dict[str, object]:
    """With the absolute path of each file that the data names: `logPath` beside `log`, `diffPath` beside `diff`."""
    names = {name: data.get(name) for name in ("log", "diff")}
    return {**data, **{f"{name}Path": f"{where}/{file}" for name, file in names.items() if isinstance(file, str)}}


def _exit_code(finished: FinishedSession) -> int:
    stop = finished.session.stop_reason
    if finished.session.status == "success":
        return PASSED
    if stop is None or stop.reason not in {*_OUR_FAULTS, _NO_CHECKS}:
        return NOT_PASSED
    complain(f"{stop.reason}: {stop.details}")
    return BAD_INPUT if stop.reason == _NO_CHECKS else OUR_FAULT
