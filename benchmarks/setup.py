"""*Setup*: what a project's dependencies cost the first tree that needs them, and every tree after it.
Real packages from the registry, in the sandbox that runs use; the project's own command without a cache is 1."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.result import Result, Row, ratio_row
from bot.model.setups import SetupPlan, SetupStep
from bot.proc import base_python
from bot.workspace.dependencies.cache import DependencyCache
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox
from bot.workspace.setup.install import install

_LOCKED = ("npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund")
_NPM = "npm ci --ignore-scripts --no-audit --no-fund"
_PIP = f"{base_python()} -m venv .venv && .venv/bin/python -m pip install -q --only-binary :all: -r requirements.txt"


@dataclass(frozen=True, slots=True)
class Size:
    """`node` and `python` are the packages that the two projects need, with their versions."""

    rounds: int = 3
    node: Mapping[str, str] = field(
        default_factory=lambda: {
            "@eslint/js": "9.39.1",
            "eslint": "9.39.1",
            "jest": "29.7.0",
            "typescript": "5.9.3",
            "typescript-eslint": "8.48.0",
        }
    )
    python: tuple[str, ...] = ("hypothesis", "mypy", "pydantic", "pytest")


@dataclass(frozen=True, slots=True)
class _Project:
    """A project by its files, and the one step that installs what it needs."""

    name: str
    files: Mapping[str, str]
    step: SetupStep


def measure(size: Size) -> Result:
    """Three trees a round, in turn: without a cache, with an empty one, and with what the one before it left."""
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        root = Path(where)
        sandbox = asyncio.run(open_sandbox("auto", ()))
        rows: list[Row] = []
        shown: list[Row] = []
        for project in (_node(root, size), _python(size)):
            bare, first, second = asyncio.run(_rounds(root, project, sandbox, size.rounds))
            rows.append(ratio_row(f"{project.name}: second run : first run", second, first, "at most", 0.1))
            rows.append(ratio_row(f"{project.name}: second run : its own command", second, bare, "at most", 0.1))
            rows.append(ratio_row(f"{project.name}: first run : its own command", first, bare, "at most", 1.5))
            for what, times in (("its own command", bare), ("first run", first), ("second run", second)):
                shown.append(Row(f"{project.name}: {what}", median(times), "s"))
    notes = (
        f"npm: {', '.join(f'{name} {version}' for name, version in size.node.items())}; `{_NPM}`.",
        f"Python: {', '.join(size.python)}; `venv` and `pip install`, wheels alone.",
        "The registry is on the way of the first two; all three run in the sandbox, whose home is empty each time.",
        "A first run also waits for the copy that it keeps.",
    )
    return Result("setup", size.rounds, (*rows, *shown), notes)


def _node(root: Path, size: Size) -> _Project:
    where = root / "lock"
    where.mkdir()
    manifest = json.dumps({"name": "bench", "version": "1.0.0", "private": True, "devDependencies": dict(size.node)})
    (where / "package.json").write_text(manifest)
    subprocess.run(_LOCKED, cwd=where, check=True, capture_output=True)
    files = {name: (where / name).read_text() for name in ("package.json", "package-lock.json")}
    step = SetupStep(
        run=_NPM, because="package-lock.json", network=True, shared=True, reads=tuple(files), products=("node_modules",)
    )
    return _Project("npm", files, step)


def _python(size: Size) -> _Project:
    files = {"requirements.txt": "".join(f"{name}\n" for name in size.python)}
    step = SetupStep(
        run=_PIP, because="requirements.txt", network=True, shared=True, reads=tuple(files), products=(".venv",)
    )
    return _Project("Python", files, step)


async def _rounds(
    root: Path, project: _Project, sandbox: Sandbox, rounds: int
) -> tuple[list[float], list[float], list[float]]:
    found: tuple[list[float], list[float], list[float]] = ([], [], [])
    for number in range(rounds):
        place = root / f"{project.name}-{number}"
        cache = DependencyCache(place / "dependencies", "bench/project")
        for times, name, given in zip(found, ("bare", "first", "second"), (None, cache, cache), strict=True):
            times.append(await _timed(place / name, project, sandbox, given))
        shutil.rmtree(place)
    return found


async def _timed(tree: Path, project: _Project, sandbox: Sandbox, cache: DependencyCache | None) -> float:
    tree.mkdir(parents=True)
    for name, text in project.files.items():
        (tree / name).write_text(text)
    began = time.perf_counter()
    done = await install(SetupPlan(steps=(project.step,)), tree, sandbox, grant=SandboxGrant(), cache=cache, mask=str)
    took = time.perf_counter() - began
    if done.failed is not None and done.failed.result is not None:
        said = done.failed.result.spawn_error or done.failed.result.output.decode(errors="replace")
        raise RuntimeError(f"{project.name}: setup failed: {said[-500:]}")
    return took
