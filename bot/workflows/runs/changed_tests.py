"""Separates a change's tests from its product files. A script with assertions that a check runs is a test, whatever its
name (REQ-PROOF-001)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence

from bot.model.pipeline import PipelineStage
from bot.rules.runs.pipeline import runs_tests
from bot.rules.runs.proof import product_files, test_files
from bot.rules.runs.state import RunState
from bot.rules.tampering.test_source import parse_tests
from bot.rules.tampering.weakened_tests import FileTexts
from bot.workflows.tampering import SCRIPTS, file_texts
from bot.workspace.git.diff import texts
from bot.workspace.git.tree import Tree

_RUN = re.compile(
    r"(?<![\w./-])(?:python[\d.]*|node|bun|deno run|ruby|php|perl|sh|bash|tsx|ts-node)"
    r"(?:\s+-(?!m\b|c\b|-check\b)[\w=-]+)*\s+(?:\./)?([\w./@+-]+)"
)
"""A command that runs a file, with the file in its group."""


async def changed_tests(tree: Tree, state: RunState, snapshot: str, paths: Sequence[str]) -> tuple[str, ...]:
    """The tests among the paths of a change, which `snapshot` holds."""
    assert state.start is not None
    (calling,) = await texts(tree.git_dir, (state.start,), SCRIPTS)
    run = _run_by(state.stages, calling.values())
    files = await file_texts(
        tree.git_dir, state.start, snapshot, [path for path in product_files(paths) if path in run]
    )
    own = frozenset(await asyncio.to_thread(lambda: [file.path for file in files if _asserts(file)]))
    tests = frozenset(test_files(paths)) | own
    return tuple(path for path in paths if path in tests)


async def changed_product(tree: Tree, state: RunState) -> tuple[str, ...]:
    """The paths of the present change that are neither tests nor documents."""
    assert state.snapshot is not None
    tests = await changed_tests(tree, state, state.snapshot, state.changed_paths)
    return tuple(path for path in product_files(state.changed_paths) if path not in tests)


def _run_by(stages: Sequence[PipelineStage], scripts: Iterable[str]) -> frozenset[str]:
    commands = [stage.command.text for stage in stages if stage.command is not None and runs_tests(stage)]
    return frozenset(match[1] for command in (*commands, *scripts) for match in _RUN.finditer(command))


def _asserts(file: FileTexts) -> bool:
    read = parse_tests(file.path, file.before or file.after or "", checked=True)
    return bool(read.cases or read.loose)
