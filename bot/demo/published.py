"""A published project's source, fetched from the package registry with pip; pip's own configuration says from where."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from bot import proc
from bot.errors import UserError

_TIMEOUT_S = 180.0


def fetch_sdist(name: str, version: str) -> bytes:
    """The sdist's bytes; raises UserError where the registry can't be reached."""
    with tempfile.TemporaryDirectory() as where:
        argv = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        argv += ["--no-binary", ":all:", "--dest", where, f"{name}=={version}"]
        result = asyncio.run(proc.run(argv, cwd=Path(where), env=dict(os.environ), timeout_s=_TIMEOUT_S))
        found = list(Path(where).glob("*.tar.gz"))
        if result.exit_code != 0 or not found:
            said = result.output.decode(errors="replace").strip().splitlines()[-1:]
            raise UserError(f"could not fetch {name} {version} from the package registry: {' '.join(said)}")
        return found[0].read_bytes()
