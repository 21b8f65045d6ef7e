"""Finds and reads the files that a language model gets with a task: few, small, and no link followed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from bot.agent import planner
from bot.agent.llm import TaskFiles
from bot.agent.protocol import INSTRUCTION_FILES
from bot.model import AgentTask
from bot.rules.tampering.test_source import is_test
from bot.workspace.files.nofollow import read_or_none
from bot.workspace.git.command import git

MAX_FILES = 24
MAX_FILE_BYTES = 60_000
MAX_ALL_BYTES = 240_000


async def read_task_files(git_dir: Path, task: AgentTask, tree: Path, first: Sequence[str] = ()) -> TaskFiles:
    """The files that the task, its failures and the planner name, with their tests, and the paths of all files.

    Those of `first` come first, and all files of a small repository are read. `git_dir` is the one that Mendbot made
    for the tree: an agent may have changed what the tree itself names."""
    asked = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = await git(*asked, git_dir=git_dir, work_tree=tree)
    paths = [os.fsdecode(path) for path in dict.fromkeys(listed.split(b"\0")) if path]
    readable = [path for path in paths if path.isprintable()]
    named = [path for path in first if path in set(readable)]
    wanted = list(dict.fromkeys((*named, *_wanted(task, readable))))[:MAX_FILES]
    return TaskFiles(await asyncio.to_thread(_read, tree, wanted), paths)


def _wanted(task: AgentTask, paths: Sequence[str]) -> list[str]:
    """The paths to read, those that say most first."""
    validations = (*([task.baseline] if task.baseline else []), *task.previous)
    failed = [step for validation in validations[-2:] for step in validation.steps if not step.passed]
    places = [failure.path for step in failed for failure in step.failures]
    logs = "\n".join(f"{step.command}\n{step.output}" for step in failed)
    known = set(paths)
    mentioned = [*task.focus, *places, *planner.named_files(task.task, paths), *planner.named_files(logs, paths)]
    first = [path for path in dict.fromkeys(mentioned) if path in known]
    tests = [test for path in first if not is_test(path) for test in planner.covering_tests(path, paths)[:2]]
    rules = [path for path in INSTRUCTION_FILES if path in known]
    others = paths if len(paths) <= MAX_FILES else ()
    named = list(dict.fromkeys((*first, *tests)))[: MAX_FILES - len(rules)]
    return list(dict.fromkeys((*named, *rules, *others)))[:MAX_FILES]


def _read(tree: Path, wanted: Sequence[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    total = 0
    for path in wanted:
        content = read_or_none(tree, path, limit=MAX_FILE_BYTES)
        if content is None or len(content) > MAX_FILE_BYTES or total + len(content) > MAX_ALL_BYTES:
            continue
        try:
            texts[path] = content.decode("utf-8")
        except UnicodeDecodeError:
            continue  # no text
        total += len(content)
    return texts
