"""Whether a change makes the checks see less: the texts before and after are read from git, the judgement is the
rules' (`rules.tampering.weakened_tests`, REQ-STOP-006)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path

from bot.model.reasons import Reason
from bot.reports.locale.reasons import refused
from bot.rules.runs.pipeline import named_by
from bot.rules.tampering.weakened_tests import WEAKENED_TESTS, FileTexts, weakened, weakened_refusal
from bot.workspace.git.diff import changed as changed_paths
from bot.workspace.git.diff import texts

SCRIPTS = ("package.json", "Makefile", "justfile")
"""Where checks keep their command lines."""


async def check_weakened_tests(
    files: Sequence[FileTexts], scripts: Sequence[FileTexts], *, named: Collection[str], commands: Sequence[str] = ()
) -> tuple[Reason, ...]:
    """What people should look at in a change of these files; raises Refused where tests or checks lose their force.

    Paths in `named` are those that the task itself is about; a file that one of the `commands` of the checks names, or
    one of their `scripts`, is itself a test."""
    checked = named_by([*commands, *(script.before or "" for script in scripts)], [file.path for file in files])
    found = await asyncio.to_thread(weakened, files, named, checked)
    why = weakened_refusal(found)
    if why is not None:
        raise refused(WEAKENED_TESTS, why)
    return tuple(one.because for one in found)


async def weakened_tests_reason(git_dir: Path, before: str, after: str) -> Reason | None:
    """Why nothing is learned from a change between two commits: it weakens tests or checks, and a check may pass for
    that alone. None for any other change."""
    paths = [change.path for change in await changed_paths(git_dir, before, after) if not change.binary]
    return weakened_refusal(await asyncio.to_thread(weakened, await file_texts(git_dir, before, after, paths)))


async def file_texts(git_dir: Path, before: str, after: str, paths: Sequence[str]) -> tuple[FileTexts, ...]:
    """The texts of these files in two snapshots, in the order of the paths."""
    old, new = await texts(git_dir, (before, after), paths)
    return tuple(FileTexts(path, old.get(path), new.get(path)) for path in paths)
