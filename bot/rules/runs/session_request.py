"""What a program may ask of a session, judged field by field, and how a session is told (REQ-RUN-001, contract
*Session*). HTTP and the command line both come through here, so that they refuse the same with the same words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import PureWindowsPath
from typing import Any

from bot.errors import UserError
from bot.model import Phase, Problem, Session, SessionRequest, ShellOrArgv, Status
from bot.repo_config.agents import agent_problem
from bot.reports.locale.reasons import english
from bot.rules.reasons import all_reasons
from bot.rules.runs.proof import proof_of
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
_ONE_OF = (
    "give `testCommand` or `validationCommands`: one of the two is required, since nothing else could show "
    "whether the task is done"
)


class InvalidRequest(UserError):
    """A request that cannot be served as it is; `problems` are never empty."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{problem.field}: {problem.message}" for problem in problems))
        self.problems = tuple(problems)


class _Wrong(Exception):
    """What is wrong with one field; turned into a Problem where the field's name is known."""


def parse_request(data: object) -> SessionRequest | tuple[Problem, ...]:
    """The request that a JSON object describes, names in camelCase or snake_case, or every problem it has.

    An optional field that is null is as one left out; blank commands do not count."""
    if not isinstance(data, Mapping):
        return (Problem(field="body", message=f"must be a JSON object with {_listed(_NAMES)}"),)
    given, problems = _sorted_out(data)
    values: dict[str, Any] = {}
    doubtful = {problem.field for problem in problems}
    for name, (wire, parse) in _FIELDS.items():
        if wire in doubtful or (given.get(name) is None and name not in _REQUIRED):
            continue
        try:
            values[name] = parse(given.get(name))
        except _Wrong as wrong:
            problems.append(Problem(field=wire, message=str(wrong)))
    known_wrong = {problem.field for problem in problems}
    commands = values.get("test_command") or values.get("validation_commands")
    if not commands and not known_wrong & {"testCommand", "validationCommands"}:
        problems.append(Problem(field="testCommand", message=_ONE_OF))
    return tuple(problems) if problems else SessionRequest(**values)


def _sorted_out(data: Mapping[Any, object]) -> tuple[dict[str, object], list[Problem]]:
    """The values by our own names, and what is wrong with the names."""
    given: dict[str, object] = {}
    problems: list[Problem] = []
    unknown = [str(key) for key in data if key not in _BY_NAME]
    for key in unknown[:SHOWN_UNKNOWN]:
        near = difflib.get_close_matches(key[:60], list(_BY_NAME), n=1)
        hint = f"did you mean `{_FIELDS[_BY_NAME[near[0]]][0]}`?" if near else f"there are {_listed(_NAMES)}"
        problems.append(Problem(field=_shown(key), message=f"is no field of a session; {hint}"))
    if len(unknown) > SHOWN_UNKNOWN:
        rest = f"{len(unknown) - SHOWN_UNKNOWN} more fields are unknown; there are {_listed(_NAMES)}"
        problems.append(Problem(field="body", message=rest))
    for key, value in data.items():
        if (name := _BY_NAME.get(key)) is None:
            continue
        if name in given and _differ(given[name], value):
            wire = _FIELDS[name][0]
            problems.append(Problem(field=wire, message=f"is given twice, also as `{name}`: give it once"))
        given[name] = value
    return given, problems


def _differ(one: object, other: object) -> bool:
    return type(one) is not type(other) or one != other


def _repo(value: object) -> str:
    text = _text(value, "the absolute path of a repository, or `owner/name` on GitHub")
    if not text.startswith("/") and not _FULL_NAME.match(text):
        raise _Wrong(
            f"`{_shown(text)}` is neither an absolute path nor `owner/name` on GitHub: "
            "begin a path with `/`, and leave addresses such as https://github.com/ away"
        )
    return text


def _task(value: object) -> str:
    return _text(value, "a sentence or more that says what is to be done", TASK_LIMIT)


def _file_paths(value: object) -> tuple[str, ...]:
    what = 'a list of paths relative to the repository, such as ["src/index.ts"]'
    return tuple(dict.fromkeys(_file_path(item) for item in _list(value, what, PATHS_LIMIT)))


def _file_path(item: object) -> str:
    path = _text(item, "paths only, each a text that is not empty", 4096)
    if path.startswith(("/", "\\")) or PureWindowsPath(path).drive:
        raise _Wrong(f"`{_shown(path)}` is absolute: name files relative to the repository")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in _SEPARATORS.split(path) or not parts:
        raise _Wrong(f"`{_shown(path)}` does not lie within the repository: name a file below it, without `..`")
    return "/".join(parts)


def _test_command(value: object) -> ShellOrArgv | None:
    return _command(value, 'a command such as "npm test", or a list of its words')


def _validation_commands(value: object) -> tuple[ShellOrArgv, ...]:
    what = 'a list of commands, each a text such as "npm test" or a list of its words'
    items = value.split("\n") if isinstance(value, str) else _list(value, what, COMMANDS_LIMIT)
    if len(items) > COMMANDS_LIMIT:
        raise _Wrong(f"has {len(items)} commands, more than {COMMANDS_LIMIT}: join some of them with `&&`")
    return tuple(found for item in items if (found := _command(item, what)) is not None)


def _command(value: object, what: str) -> ShellOrArgv | None:
    """None for one that says nothing."""
    if isinstance(value, str):
        return _text(value, what).strip() if value.strip() else None
    words = _list(value, what, 1000)
    if not words:
        return None
    # an empty word is a fine argument, but not a program
    program = _text(words[0], f"{what}, and the first word names the program")
    return (program, *(_text(word, what, blank=True) for word in words[1:]))


def _max_attempts(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= ATTEMPTS_LIMIT:
        raise _Wrong(f"must be a whole number from 1 to {ATTEMPTS_LIMIT}")
    return value


def _agents(value: object) -> tuple[str, ...]:
    what = 'a list of agents, such as ["fixers", "history"]'
    agents = tuple(_text(item, what, 4096) for item in _list(value, what, AGENTS_LIMIT))
    problems = [problem for agent in dict.fromkeys(agents) if (problem := agent_problem(agent)) is not None]
    if problems:
        raise _Wrong(english(all_reasons(problems)))
    return agents


def _list(value: object, what: str, most: int) -> list[object]:
    if not isinstance(value, list | tuple):
        raise _Wrong(f"must be {what}")
    if len(value) > most:
        raise _Wrong(f"has {len(value)} items, more than {most}: leave some out")
    return list(value)


def _text(value: object, what: str, most: int = TEXT_LIMIT, *, blank: bool = False) -> str:
    if value is None:
        raise _Wrong(f"is missing: give {what}")
    if not isinstance(value, str) or not (blank or value.strip()):
        raise _Wrong(f"must be {what}")
    if len(value) > most:
        raise _Wrong(f"is {len(value)} characters long, more than {most}: shorten it")
    if "\0" in value or _SURROGATE.search(value):
        raise _Wrong("has a NUL or half a character (a lone surrogate) in it, which no command can be given: remove it")
    return value


def _shown(text: str) -> str:
    """Enough of a text of anybody's to find it again."""
    clean = text if len(text) <= 80 else text[:79] + "…"
    return clean.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0").replace("`", "'")


_FIELDS: Mapping[str, tuple[str, Callable[[object], Any]]] = {
    "repo": ("repo", _repo),
    "task": ("task", _task),
    "file_paths": ("filePaths", _file_paths),
    "test_command": ("testCommand", _test_command),
    "validation_commands": ("validationCommands", _validation_commands),
    "max_attempts": ("maxAttempts", _max_attempts),
    "agents": ("agents", _agents),
}
_REQUIRED = frozenset({"repo", "task"})
_NAMES = tuple(wire for wire, _ in _FIELDS.values())
_BY_NAME = {spelt: name for name, (wire, _) in _FIELDS.items() for spelt in (wire, name)}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def session_for(
    run_id: str,
    spec: RunSpec,
    status: Status,
    state: RunState,
    *,
    created_at: datetime,
) -> Session:
    """The session that a run is to programs. In one that has ended nothing is pending or running any more: what was
    not reached is `skipped`, what was cut short `failed`."""
    return Session(
        id=run_id,
        status=status,
        repo=spec.place,
        task=spec.task,
        phases={phase: _phase(state.phases.get(phase, "pending"), status.final) for phase in Phase},
        artifact_refs=state.artifact_refs,
        iteration=state.counted,
        max_attempts=spec.most_attempts,
        shown=proof_of(spec, state) == "shown" if status is Status.SUCCESS else None,
        branch=state.branch or None,
        pull_request=state.pull.url if state.pull else None,
        changed_paths=state.changed_paths,
        created_at=created_at,
        ended_at=state.ended_at,
    )


def _phase(status: str, final: bool) -> str:
    return {"pending": "skipped", "running": "failed"}.get(status, status) if final else status
