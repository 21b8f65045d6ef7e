"""Published projects' sources, fetched from the package registry with pip; pip's own configuration says from where."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from bot import proc
from bot.errors import UserError

_TIMEOUT_S = 180.0


def fetch_sdists(name: str, versions: tuple[str, ...]) -> tuple[bytes, ...]:
    """Each version's sdist, in the order asked for; raises UserError where the registry can't be reached."""
    return asyncio.run(_fetch_all(name, versions))


async def _fetch_all(name: str, versions: tuple[str, ...]) -> tuple[bytes, ...]:
    # side by side, as pip spends most of its time on asking the project's build backend for metadata
    return tuple(await asyncio.gather(*(_fetch(name, version) for version in versions)))


async def _fetch(name: str, version: str) -> bytes:
    requirement = f"{name}=={version}"
    with tempfile.TemporaryDirectory(prefix="mendbot-sdist-") as where:
        argv = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check", "--no-deps"]
        # by name: with `:all:`, older versions of pip build the build backend from source too, and its own, and so on
        argv += ["--no-binary", name, "--dest", where, requirement]
        result = await proc.run(argv, cwd=Path(where), env=dict(os.environ), timeout_s=_TIMEOUT_S)
        found = list(Path(where).glob("*.tar.gz"))
        if result.exit_code != 0 or not found:
            said = result.spawn_error or result.output.decode(errors="replace").strip() or "pip took too long"
            raise UserError(f"could not fetch {requirement} from the package registry; pip says:\n{said[-2000:]}")
        return found[0].read_bytes()
