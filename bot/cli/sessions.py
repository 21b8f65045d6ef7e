"""`mendbot fix`: one session in a tree on this machine, from its task to its end."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bot.cli.exits import BAD_INPUT, NOT_PASSED, OUR_FAULT, PASSED
from bot.cli.local import Flag, print_json
from bot.cli.numbers import Number
from bot.errors import UserError

if TYPE_CHECKING:
    from bot.app.attended import Listener, Told
    from bot.model import Problem, RunEvent, SessionRequest

Text = Annotated[str, Parameter(allow_leading_hyphen=True)]
_OUR_FAULTS = frozenset({"internal_error", "gave_up"})


def fix(
    *,
    repo: Path,
    task: Text,
    file: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    test_command: Text | None = None,
    validation_command: Annotated[tuple[str, ...], Parameter(negative="", allow_leading_hyphen=True)] = (),
    max_attempts: Number = 3,
    agent: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    json: Flag = False,
) -> int:
    """Work on a task in a tree until its checks pass; otherwise the tree is left as it was.

    Parameters
    ----------
    repo
        the tree; its .github/mendbot.yml is read from the default branch
    task
        what is to be done
    file
        a file that the task is about; may be given several times
    test_command
        the test, run after the project's own lint and typecheck
    validation_command
        a command that must pass, in place of those three; may be given several times
    max_attempts
        the attempts there may be
    agent
        fixers, history, command or command:ARGV, tried in order; may be given several times
    json
        one JSON document at the end instead of lines as it goes
    """
    request = _request(
        {
            "repo": str(repo.expanduser().absolute()),
            "task": task,
            "filePaths": list(file),
            "testCommand": test_command,
            "validationCommands": list(validation_command),
            "maxAttempts": max_attempts,
            "agents": list(agent),
        }
    )
    told = asyncio.run(_run(request, None if json else _say))
    print_json(_document(told)) if json else _sum_up(told)
    return _exit_code(told)


_OPTIONS = {
    "repo": "--repo",
    "task": "--task",
    "filePaths": "--file",
    "testCommand": "--test-command",
    "validationCommands": "--validation-command",
    "maxAttempts": "--max-attempts",
    "agents": "--agent",
}


def _request(data: dict[str, object]) -> SessionRequest:
    from bot.rules.sessions import parse_request

    parsed = parse_request(data)
    if isinstance(parsed, tuple):
        raise UserError(_in_options(parsed))
    return parsed


def _in_options(problems: Sequence[Problem]) -> str:
    """All that is wrong, named by the options of the command line."""
    said = "; ".join(f"{_OPTIONS.get(problem.field, problem.field)}: {problem.message}" for problem in problems)
    for field, option in _OPTIONS.items():
        said = said.replace(f"`{field}`", f"`{option}`")
    return said


async def _run(request: SessionRequest, on_event: Listener | None) -> Told:
    from bot.app.attended import run_session
    from bot.config import load_settings
    from bot.logs import set_up_logs
    from bot.rules.sessions import Rejected

    settings = load_settings()
    set_up_logs("error" if settings.log_level == "info" else settings.log_level, settings.log_format)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    try:
        return await run_session(settings, request, on_event=on_event, on_wait=_say_waiting, stop=stop)
    except Rejected as error:
        raise UserError(_in_options(error.problems)) from None


def _say_waiting(because: str) -> None:
    # on stderr with `--json` too: who sees nothing happen must be able to learn why
    print(f"mendbot: waits: {because}", file=sys.stderr, flush=True)


def _say(event: RunEvent) -> None:
    from bot.reports.course import event_line

    line = event_line(event)
    if line is not None:
        print(line, flush=True)


def _document(told: Told) -> dict[str, object]:
    """The session as over HTTP, with its events and its artifacts."""
    from bot.web.sessions import artifact_json, session_json
    from bot.web.stream import event_json

    return {
        **session_json(told.session),
        "events": [event_json(event) for event in told.events],
        "artifacts": [artifact_json(artifact) for artifact in told.artifacts],
    }


def _sum_up(told: Told) -> None:
    session = told.session
    if session.status == "success":
        print(f"changed: {', '.join(session.changed_paths)}")
        if session.shown is False:
            print("the checks pass; nothing showed the fault before the change")
        return
    end = next((event.data for event in reversed(told.events) if event.type == "session_finished"), {})
    if end.get("diff"):
        where = f"artifacts/{session.id}/{end['diff']} in MENDBOT_HOME"
        print(f"the tree is as it was; what had been tried is kept: {where}")
    if (end.get("bestAttempt") or session.iteration) != session.iteration:
        print(f"attempt {end['bestAttempt']} came furthest: see attempt-{end['bestAttempt']}.diff there")
    if session.stop_reason is not None:
        print(f"mendbot: {session.stop_reason.reason}: {session.stop_reason.details}", file=sys.stderr)


def _exit_code(told: Told) -> int:
    stop = told.session.stop_reason
    if told.session.status == "success":
        return PASSED
    if stop is not None and stop.reason in _OUR_FAULTS:
        return OUR_FAULT
    return BAD_INPUT if stop is not None and stop.reason == "no_checks" else NOT_PASSED
