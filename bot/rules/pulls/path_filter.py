"""Decides by the changed files which pull requests are checked: `pull_requests.paths` of the configuration (spec K).
The patterns are read as those of `protected_paths`."""

from __future__ import annotations

from collections.abc import Sequence

from bot.rules.patches.change_policy import matches


def wanted(patterns: Sequence[str], paths: Sequence[str]) -> bool:
    """Whether one of the changed files (relative to the repository, `/` between parts) is included.

    As in a .gitignore, the last pattern that matches a file decides, `!` excludes, and a pattern names a file or a
    directory above it. No patterns include every pull request, also one without files. Patterns that all exclude
    include every other file."""
    if not patterns:
        return True
    by_default = all(pattern.startswith("!") for pattern in patterns)
    latest_first = tuple((pattern.removeprefix("!"), not pattern.startswith("!")) for pattern in reversed(patterns))
    return any(_asked_for(path, latest_first, by_default) for path in paths)


def _asked_for(path: str, latest_first: Sequence[tuple[str, bool]], by_default: bool) -> bool:
    names = tuple(path.casefold().split("/"))
    return next((included for glob, included in latest_first if matches(names, glob)), by_default)
