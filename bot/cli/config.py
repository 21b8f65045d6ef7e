"""The commands for `.github/mendbot.yml`: judge a file as the bot would, and print the JSON Schema for editors."""

from __future__ import annotations

import json as json_
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cyclopts import App

from bot.cli.exits import NOT_PASSED, PASSED
from bot.cli.local import Flag, GivenPath, repository_around
from bot.cli.output import print_json, say
from bot.config import POLICY_PATH, Policy, PolicyProblem, parse_policy_file, policy_schema, terminal_language
from bot.errors import UserError
from bot.repo_config.parse import MAX_FILE_BYTES
from bot.reports.format.truncate import one_line
from bot.reports.locale.reasons import english, reason_text

_ELSEWHERE = (".github/mendbot.yaml", "mendbot.yml", "mendbot.yaml", ".mendbot.yml", ".mendbot.yaml")
"""Where people expect the file."""

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
        _complain_of_another_place(where)
    read, language = parse_policy_file(_bytes(where)), terminal_language()
    if json:
        print_json(_document(where, read))
    elif isinstance(read, Policy):
        say(f"{one_line(str(where))}: {_in_force(read)}")
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
    """The file's usual place, relative to the working directory; beside `.git` where there is one at or above it."""
    here = Path.cwd()
    return Path(os.path.relpath((repository_around(here) or here) / POLICY_PATH, here))


def _complain_of_another_place(usual: Path) -> None:
    """Raises UserError where the file stands beside its usual place, where the bot never looks."""
    top = usual.parent.parent
    if not usual.exists() and (found := [name for name in _ELSEWHERE if (top / name).is_file()]):
        raise UserError(f"{top / found[0]}: only {POLICY_PATH} is read; move the file there")


def _bytes(where: Path) -> bytes:
    try:
        with where.expanduser().open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise UserError(f"{where}: no such file; name one, or make it: without it the defaults are in force") from None
    except (OSError, ValueError, RuntimeError) as error:  # a NUL in the name, `~nobody`
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(f"{where}: cannot be read ({why}); name a file that this user may read") from None


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


def _in_force(policy: Policy) -> str:
    set_ = [
        f"{key}: {one_line(value, 60)}" for key, value in _leaves(policy.model_dump(mode="json", exclude_defaults=True))
    ]
    return f"good; beyond the defaults: {', '.join(set_)}" if set_ else "good; the defaults are in force"


def _leaves(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", json_.dumps(value, ensure_ascii=False)
