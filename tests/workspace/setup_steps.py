"""Setups to carry out in tests: small steps of the shell, and real ones of npm and pip without anything to download."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from bot.model.setups import SetupPlan, SetupStep
from bot.workspace.dependencies.cache import DependencyCache
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox
from bot.workspace.setup.install import Installed, install
from tests.machine import PYTHON
from tests.workspace.git_scene import make_repo, plain

MADE = "made"
"""A product of the steps below; each run adds a line of random letters, so that a copy differs from a second run."""
RANDOM = "mkdir -p made && head -c 8 /dev/urandom | od -An -tx1 >> made/random"
VENV = f"{PYTHON} -m venv --without-pip .venv"


def step(run: str = RANDOM, *, reads: tuple[str, ...] = ("lock",), products: tuple[str, ...] = (MADE,)) -> SetupStep:
    return SetupStep(run=run, because="lock", shared=True, reads=reads, products=products)


def cache(home: Path, head: str = "", repo: str = "octo/tiny") -> DependencyCache:
    return DependencyCache(home / "dependencies", repo, head)


async def sandbox(level: str = "none") -> Sandbox:
    return await open_sandbox("none" if level == "none" else "bubblewrap", ())


def tree(path: Path, files: Mapping[str, str] | None = None) -> Path:
    """A tree with these files, and a lock unless they have one."""
    path.mkdir(parents=True)
    for name, text in ({"lock": "1\n"} | dict(files or {})).items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def worktrees(root: Path, *names: str, files: Mapping[str, str] | None = None) -> list[Path]:
    """Worktrees of one repository, all at its only commit."""
    repository = make_repo(root / "repository", {"lock": "1\n"} | dict(files or {}))
    for name in names:
        plain("worktree", "add", "-q", "--detach", str(root / name), cwd=repository)
    return [root / name for name in names]


async def set_up(where: Path, given: DependencyCache | None, *steps: SetupStep, configured: bool = False) -> Installed:
    plan = SetupPlan(steps=steps or (step(),), configured=configured)
    return await carry_out(plan, where, await sandbox(), given)


async def carry_out(plan: SetupPlan, where: Path, inside: Sandbox, given: DependencyCache | None) -> Installed:
    done = await install(plan, where, inside, grant=SandboxGrant(), cache=given, mask=str)
    assert done.failed is None, done.failed
    return done


def ran(done: Installed) -> list[bool]:
    """For each step whether it was run."""
    return [each.result is not None for each in done.steps]


def npm_project(path: Path) -> Path:
    """A workspace of two packages, one of which uses the other; npm links them and asks nobody."""
    manifest = {"name": "root", "private": True, "workspaces": ["packages/*"]}
    greet = {"name": "greet", "version": "1.0.0", "main": "index.js", "bin": {"greet": "bin.js"}}
    return tree(
        path,
        {
            "package.json": json.dumps(manifest),
            "packages/greet/package.json": json.dumps(greet),
            "packages/greet/index.js": "module.exports = () => 'hello'\n",
            "packages/greet/bin.js": "#!/usr/bin/env node\nconsole.log(require('greet')())\n",
        },
    )
