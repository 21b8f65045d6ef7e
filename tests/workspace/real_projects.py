"""Real projects for the checks: sources with their tools, installed by npm and pnpm into a cache that git ignores.
A second run, and every parallel test process, takes what the first one installed; nothing of it is committed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "projects"
PNPM = "10.34.9"
TOOLS = {
    "@eslint/js": "9.39.1",
    "eslint": "9.39.1",
    "typescript": "5.9.3",
    "typescript-eslint": "8.48.0",
    "vitest": "4.0.14",
}
SCRIPTS = {
    "npm": {"test": "vitest run", "type-check": "tsc --noEmit", "lint": "eslint ."},
    "pnpm": {"test": "vitest run", "typecheck": "tsc --noEmit"},  # no `lint`: eslint is found installed
}
BIN = Path(sys.executable).parent

NODE_SOURCES: Mapping[str, str] = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "nodenext", "target": "es2022", '
    '"skipLibCheck": true}, "include": ["src"]}\n',
    "eslint.config.js": 'import js from "@eslint/js";\nimport tseslint from "typescript-eslint";\n'
    "export default tseslint.config(js.configs.recommended, tseslint.configs.recommended);\n",
    "src/sum.ts": "export function sum(a: number, b: number): number {\n  return a + b;\n}\n",
    "src/sum.test.ts": 'import { expect, test } from "vitest";\nimport { sum } from "./sum.js";\n\n'
    'test("adds", () => {\n  expect(sum(2, 2)).toBe(4);\n});\n',
}
PYTHON_SOURCES: Mapping[str, str] = {
    "pyproject.toml": '[project]\nname = "calc"\nversion = "1"\n[tool.mypy]\nstrict = true\n[tool.ruff]\n'
    '[tool.pytest.ini_options]\naddopts = "-p no:cacheprovider"\n',
    "calc.py": "def add(a: int, b: int) -> int:\n    return a + b\n",
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add() -> None:\n    assert add(2, 2) == 4\n",
}


def sources(tree: Path, files: Mapping[str, str]) -> Path:
    """Write the files below the tree."""
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    return tree


def python_project(tree: Path) -> Path:
    """A project that pytest, mypy and ruff pass; the tools are the tests' own."""
    return sources(tree, PYTHON_SOURCES)


def node_project(tree: Path, manager: str) -> Path:
    """A TypeScript project that tsc, eslint and vitest pass, installed by `npm` or `pnpm`."""
    installed = _installed(manager)
    shutil.copytree(installed, tree, symlinks=True, dirs_exist_ok=True, copy_function=_link_or_copy)
    (tree / "package.json").unlink()  # it is one file with the cache's, and tests write to theirs
    return sources(tree, {"package.json": _manifest(manager), **NODE_SOURCES})


def pnpm_home() -> Path:
    """A directory with `bin/pnpm`, as MENDBOT_TOOLCHAINS takes it."""
    home = CACHE / f"pnpm-{PNPM}"
    with _lock():
        if not (home / "bin").exists():
            shutil.rmtree(home, ignore_errors=True)
            sources(home, {"package.json": json.dumps({"private": True, "dependencies": {"pnpm": PNPM}})})
            _run(home, str(BIN / "npm"), "install", "--ignore-scripts", "--no-audit", "--no-fund")
            (home / "bin").symlink_to("node_modules/.bin")
    return home


def _installed(manager: str) -> Path:
    pnpm = pnpm_home() / "bin" / "pnpm" if manager == "pnpm" else None
    place, done = CACHE / manager, CACHE / f"{manager}.json"
    with _lock():
        if not done.exists() or done.read_text(encoding="utf-8") != _manifest(manager):
            shutil.rmtree(place, ignore_errors=True)
            sources(place, {"package.json": _manifest(manager)})
            if pnpm is None:
                _run(place, str(BIN / "npm"), "install", "--ignore-scripts", "--no-audit", "--no-fund")
            else:
                _run(place, str(pnpm), "install", "--ignore-scripts", "--store-dir", str(CACHE / "store"))
            done.write_text(_manifest(manager), encoding="utf-8")
    return place


def _manifest(manager: str) -> str:
    scripts = SCRIPTS[manager]
    return json.dumps({"private": True, "type": "module", "scripts": scripts, "devDependencies": TOOLS}, indent=1)


@contextmanager
def _lock() -> Iterator[None]:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(where: Path, *argv: str) -> None:
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}", "CI": "true"}
    done = subprocess.run(
        argv, cwd=where, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(argv)} ended with {done.returncode}: {done.stderr or done.stdout}")


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
