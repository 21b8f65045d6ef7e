"""`mendbot config`: validates a repository's configuration, and prints its JSON Schema for editors."""

from __future__ import annotations

import json as json_
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cyclopts import App

from bot.cli.arguments import Flag, GivenPath
from bot.cli.directories import repository_around
from bot.cli.exits import NOT_PASSED, PASSED
from bot.cli.output import print_json, say
from bot.config import POLICY_PATH, Policy, PolicyProblem, parse_policy_file, policy_schema, terminal_language
from bot.model import Language
from bot.repo_config.parse import MAX_FILE_BYTES
from bot.reports.format.truncate import one_line
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import english, reason_text, user_error
from bot.rules.reasons import make_reason

_ELSEWHERE = (".github/mendbot.yaml", "mendbot.yml", "mendbot.yaml", ".mendbot.yml", ".mendbot.yaml")
"""Places where people put the file by mistake."""

config = App(name="config", help="A repository's own configuration.", result_action="return_value")


@config.command
def check(file: GivenPath | None = None, *, json: Flag = False) -> int:
    """Say what is wrong in a configuration file, or what it sets.

    Parameters
    ----------
    file
        the file; .github/mendbot.yml around the working directory by default
    json
        print one JSON document instead of lines
    """
    where = _of_the_repository() if file is None else file
    if file is None:
        _refuse_other_place(where)
    read, language = parse_policy_file(_bytes(where)), terminal_language()
    if json:
        print_json(_document(where, read))
    elif isinstance(read, Policy):
        say(f"{one_line(str(where))}: {_in_force(read, language)}")
    else:
        for problem in read:
            key, message = f"{problem.key}: " if problem.key else "", reason_text(problem.reason, language)
            say(f"{one_line(str(where))}:{problem.line}:{problem.column}: {key}{message}")
    return PASSED if isinstance(read, Policy) else NOT_PASSED


@config.command
def schema() -> int:
    """Print the JSON Schema of the configuration file (draft 2020-12)."""
    say(json_.dumps(policy_schema(), indent=2))
    return PASSED


def _of_the_repository() -> Path:
    """The usual path of the file, relative to the working directory: in the repository around it, if there is one."""
    here = Path.cwd()
    return Path(os.path.relpath((repository_around(here) or here) / POLICY_PATH, here))


def _refuse_other_place(usual: Path) -> None:
    """Raises UserError if there is a configuration file, but in a place where Mendbot never reads it."""
    top = usual.parent.parent
    if not usual.exists() and (misplaced := [name for name in _ELSEWHERE if (top / name).is_file()]):
        raise user_error(make_reason("cli.config_elsewhere", path=str(top / misplaced[0]), usual=POLICY_PATH))


def _bytes(where: Path) -> bytes:
    try:
        with where.expanduser().open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise user_error(make_reason("cli.no_config", path=str(where))) from None
    except (OSError, ValueError, RuntimeError) as error:  # a NUL in the name, `~nobody`
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise user_error(make_reason("cli.config_unreadable", path=str(where), error=why or "")) from None


def _document(where: Path, read: Policy | tuple[PolicyProblem, ...]) -> dict[str, Any]:
    valid = isinstance(read, Policy)
    return {
        "file": str(where),
        "valid": valid,
        "problems": [] if isinstance(read, Policy) else [_problem(problem) for problem in read],
        "policy": read.model_dump(mode="json") if isinstance(read, Policy) else None,
    }


def _problem(problem: PolicyProblem) -> dict[str, Any]:
    place = {"line": problem.line, "column": problem.column}
    return {"key": problem.key, "message": english(problem.reason), **place}


def _in_force(policy: Policy, language: Language) -> str:
    leaves = _leaves(policy.model_dump(mode="json", exclude_defaults=True))
    changed = ", ".join(f"{key}: {one_line(value, 60)}" for key, value in leaves)
    return t(language, "config.changed", values=changed) if changed else t(language, "config.default")


def _leaves(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", json_.dumps(value, ensure_ascii=False)
