"""Validates the request for a session field by field, and makes the session that programs see (REQ-RUN-001, contract
*Session*). HTTP and the command line both use it, so they reject the same requests for the same reasons."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import PureWindowsPath

from bot.errors import UserError
from bot.model import Phase, Problem, Session, SessionRequest, ShellOrArgv, Status
from bot.model.reasons import Reason
from bot.repo_config.agents import agent_problem
from bot.repo_config.configuration_keys import MAX_CANDIDATES
from bot.rules.reasons import all_reasons, make_reason
from bot.rules.runs.proof import is_proven
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState

TASK_LIMIT = 65_536
"""Characters; as many as GitHub lets an issue have."""
PATHS_LIMIT = 1000
ATTEMPTS_LIMIT = 100
AGENTS_LIMIT = 20
COMMANDS_LIMIT = 100
TEXT_LIMIT = 30_000
"""Of a path, a command or one of its words; Linux takes 131,072 bytes a word (execve(2)), four of them a character."""
SHOWN_UNKNOWN = 20

_FULL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}/(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SEPARATORS = re.compile(r"[/\\]")


class InvalidRequest(UserError):
    """A request that cannot be served; it has at least one of `problems`."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(
            because=all_reasons(
                make_reason("field_problem", field=problem.field, why=problem.reason) for problem in problems
            )
        )
        self.problems = tuple(problems)


class _WrongValue(Exception):
    """The reason why the value of a field is wrong; the caller knows the field."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.kind)
        self.reason = reason


def parse_request(data: object) -> SessionRequest | tuple[Problem, ...]:
    """The request that a JSON object describes, names in camelCase or snake_case, or every problem it has.

    An optional field that is null counts as missing, and so do blank commands."""
    if not isinstance(data, Mapping):
        return (Problem(field="body", reason=make_reason("session_request.no_object", fields=_FIELD_NAMES)),)
    fields, problems = _by_own_names(data)
    values: dict[str, object] = {}
    unclear = {problem.field for problem in problems}
    for name, (wire, parse) in _FIELDS.items():
        if wire in unclear or (fields.get(name) is None and name not in _REQUIRED):
            continue
        try:
            values[name] = parse(fields.get(name))
        except _WrongValue as wrong:
            problems.append(Problem(field=wire, reason=wrong.reason))
    commands = values.get("test_command") or values.get("validation_commands")
    if not commands and not {problem.field for problem in problems} & {"testCommand", "validationCommands"}:
        problems.append(Problem(field="testCommand", reason=make_reason("session_request.no_command")))
    return tuple(problems) if problems else SessionRequest.model_validate(values)


def _by_own_names(data: Mapping[object, object]) -> tuple[dict[str, object], list[Problem]]:
    """The values by our own field names, and the problems with the names in the data."""
    fields: dict[str, object] = {}
    unknown = [str(key) for key in data if key not in _BY_NAME]
    problems = [_unknown_field(key) for key in unknown[:SHOWN_UNKNOWN]]
    if (more := len(unknown) - SHOWN_UNKNOWN) > 0:
        reason = make_reason("session_request.more_unknown", count=more, fields=_FIELD_NAMES)
        problems.append(Problem(field="body", reason=reason))
    for key, value in data.items():
        if not isinstance(key, str) or (name := _BY_NAME.get(key)) is None:
            continue
        if name in fields and _differ(fields[name], value):
            reason = make_reason("session_request.twice", name=name)
            problems.append(Problem(field=_FIELDS[name][0], reason=reason))
        fields[name] = value
    return fields, problems


def _unknown_field(key: str) -> Problem:
    near = difflib.get_close_matches(key[:60], list(_BY_NAME), n=1)
    if near:
        reason = make_reason("session_request.misspelt", near=_FIELDS[_BY_NAME[near[0]]][0])
    else:
        reason = make_reason("session_request.unknown", fields=_FIELD_NAMES)
    return Problem(field=_shown(key), reason=reason)


def _differ(value: object, other: object) -> bool:
    return type(value) is not type(other) or value != other


def _repo(value: object) -> str:
    text = _text(value, "repo")
    if not text.startswith("/") and not _FULL_NAME.match(text):
        raise _WrongValue(make_reason("session_request.no_repo", text=_shown(text)))
    return text


def _task(value: object) -> str:
    return _text(value, "task", TASK_LIMIT)


def _file_paths(value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_file_path(item) for item in _list(value, "files", PATHS_LIMIT)))


def _file_path(item: object) -> str:
    path = _text(item, "file", 4096)
    if path.startswith(("/", "\\")) or PureWindowsPath(path).drive:
        raise _WrongValue(make_reason("session_request.absolute", path=_shown(path)))
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in _SEPARATORS.split(path) or not parts:
        raise _WrongValue(make_reason("session_request.outside", path=_shown(path)))
    return "/".join(parts)


def _test_command(value: object) -> ShellOrArgv | None:
    return _command(value, "command")


def _validation_commands(value: object) -> tuple[ShellOrArgv, ...]:
    items = value.split("\n") if isinstance(value, str) else _list(value, "commands", COMMANDS_LIMIT)
    if len(items) > COMMANDS_LIMIT:
        reason = make_reason("session_request.too_many_commands", commands=len(items), limit=COMMANDS_LIMIT)
        raise _WrongValue(reason)
    return tuple(command for item in items if (command := _command(item, "commands")) is not None)


def _command(value: object, expected: str) -> ShellOrArgv | None:
    """None for a blank command."""
    if isinstance(value, str):
        return _text(value, expected).strip() if value.strip() else None
    words = _list(value, expected, 1000)
    if not words:
        return None
    # an empty word is a valid argument, but not a program
    program = _text(words[0], f"{expected}_program")
    return (program, *(_text(word, expected, blank=True) for word in words[1:]))


def _max_attempts(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= ATTEMPTS_LIMIT:
        raise _WrongValue(make_reason("session_request.attempts", limit=ATTEMPTS_LIMIT))
    return value


def _candidates(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_CANDIDATES:
        raise _WrongValue(make_reason("session_request.attempts", limit=MAX_CANDIDATES))
    return value


def _agents(value: object) -> tuple[str, ...]:
    agents = tuple(_text(item, "agents", 4096) for item in _list(value, "agents", AGENTS_LIMIT))
    problems = [problem for agent in dict.fromkeys(agents) if (problem := agent_problem(agent)) is not None]
    if problems:
        raise _WrongValue(all_reasons(problems))
    return agents


def _list(value: object, expected: str, limit: int) -> list[object]:
    if not isinstance(value, list | tuple):
        raise _WrongValue(_must_be(expected))
    if len(value) > limit:
        raise _WrongValue(make_reason("session_request.too_many", items=len(value), limit=limit))
    return list(value)


def _text(value: object, expected: str, limit: int = TEXT_LIMIT, *, blank: bool = False) -> str:
    if value is None:
        raise _WrongValue(make_reason("session_request.missing", expected=_expected(expected)))
    if not isinstance(value, str) or not (blank or value.strip()):
        raise _WrongValue(_must_be(expected))
    if len(value) > limit:
        raise _WrongValue(make_reason("session_request.too_long", length=len(value), limit=limit))
    if "\0" in value or _SURROGATE.search(value):
        raise _WrongValue(make_reason("session_request.bad_character"))
    return value


def _must_be(expected: str) -> Reason:
    return make_reason("session_request.must_be", expected=_expected(expected))


def _expected(expected: str) -> Reason:
    return make_reason(f"session_request.expected.{expected}")


def _shown(text: str) -> str:
    """The beginning of an untrusted text, fit for a message."""
    clean = text if len(text) <= 80 else text[:79] + "…"
    return clean.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0").replace("`", "'")


_FIELDS: Mapping[str, tuple[str, Callable[[object], object]]] = {
    "repo": ("repo", _repo),
    "task": ("task", _task),
    "file_paths": ("filePaths", _file_paths),
    "test_command": ("testCommand", _test_command),
    "validation_commands": ("validationCommands", _validation_commands),
    "max_attempts": ("maxAttempts", _max_attempts),
    "agents": ("agents", _agents),
    "candidates": ("candidates", _candidates),
}
_REQUIRED = frozenset({"repo", "task"})
_FIELD_NAMES = ", ".join(f"`{wire}`" for wire, _ in _FIELDS.values())
_BY_NAME = {spelling: name for name, (wire, _) in _FIELDS.items() for spelling in (wire, name)}


def session_for(
    run_id: str,
    spec: RunSpec,
    status: Status,
    state: RunState,
    *,
    created_at: datetime,
) -> Session:
    """The session that programs see of a run. In a session that has ended, a phase that was not reached is `skipped`,
    and a phase that was cut short is `failed`."""
    return Session(
        id=run_id,
        status=status,
        repo=spec.place,
        task=spec.task,
        phases={
            phase: _phase(state.phases.get(phase, "pending"), status.final)
            for phase in Phase
            if phase is not Phase.REPRODUCTION or phase in state.phases
        },
        artifact_refs=state.artifact_refs,
        iteration=state.counted,
        max_attempts=spec.attempt_limit,
        shown=is_proven(state) if status is Status.SUCCESS else None,
        proof=state.proof.level if state.proof else None,
        evidence=state.proof,
        branch=state.branch or None,
        pull_request=state.pull.url if state.pull else None,
        changed_paths=state.changed_paths,
        usage=state.usage,
        created_at=created_at,
        ended_at=state.ended_at,
    )


def _phase(status: str, final: bool) -> str:
    return {"pending": "skipped", "running": "failed"}.get(status, status) if final else status
