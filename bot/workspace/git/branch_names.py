"""The names of the bot's branches and of the directories they are checked out in (REQ-GIT-001), both ways.
Names reach git's argv, so everything here is decided before git is asked (T17)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bot.model.reasons import Reason
from bot.rules.reasons import make_reason

_ALLOWED = re.compile(r"[a-z0-9/-]+")
_MAX_LENGTH = 200
_DIRECTORY = re.compile(r"fix-issue-(\d+(?:-\d+)*)")
_BRANCH = re.compile(r"(?:^|/)issue-(\d+(?:-\d+)*)(?![0-9])")


def branch_for(issues: Sequence[int]) -> str:
    """`fix/issue-1-2-3`, numbers ascending and each once."""
    return f"fix/issue-{_numbers(issues)}"


def directory_for(issues: Sequence[int]) -> str:
    """`fix-issue-1-2-3`, the directory of these issues' worktree."""
    return f"fix-issue-{_numbers(issues)}"


def branch_problem(name: object) -> Reason | None:
    """Returns what is wrong with a branch name; None if it may be used (`^[a-z0-9/-]+$` and git's own rules)."""
    if not isinstance(name, str) or not _ALLOWED.fullmatch(name):
        return make_reason("branch.characters", name=repr(name))
    if name.startswith("-"):
        return make_reason("branch.dash", name=repr(name))
    if "//" in name or name.startswith("/") or name.endswith("/"):
        return make_reason("branch.slashes", name=repr(name))
    if len(name) > _MAX_LENGTH:
        return make_reason("branch.long", length=len(name), limit=_MAX_LENGTH)
    return None


def issues_of(path: Path, branch: str) -> tuple[int, ...]:
    """The issues a worktree is for, read from its directory's name, else from its branch; empty if in neither."""
    found = _DIRECTORY.fullmatch(path.name) or _BRANCH.search(branch)
    return tuple(sorted({int(number) for number in found[1].split("-")})) if found else ()


def _numbers(issues: Sequence[int]) -> str:
    return "-".join(str(number) for number in sorted(set(issues)))
