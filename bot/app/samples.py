"""Copies of the sample repository, in which the presets of the session form work.

They lie in the home, so that a new server can show a session before any workspace root is set."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from pathlib import Path

from bot.model import Problem
from bot.rules.reasons import make_reason, quoted
from bot.rules.runs.session_request import InvalidRequest
from bot.web.pages.presets import SAMPLE, sample_files
from bot.workspace.files.home_directories import claim_directories
from bot.workspace.files.remove_tree import remove_directory

DIRECTORY = "samples"
MAX_COPIES = 50
"""The oldest copies beyond these are deleted."""


def samples_root(home: Path) -> Path:
    """The directory of the copies: sessions may work in it as in a workspace root."""
    return home / DIRECTORY


async def make_sample(home: Path) -> str:
    """Write a new copy of the sample repository and return its path.

    Raises InvalidRequest where it cannot be written."""
    try:
        tree, old = await asyncio.to_thread(_copy, home)
    except OSError as error:
        why = quoted(error.strerror or "")
        reason = make_reason("session.bad_path", path=str(samples_root(home)), why=why)
        raise InvalidRequest((Problem(field="repo", reason=reason),)) from None
    for copy in old:
        await remove_directory(copy)
    return str(tree)


def _copy(home: Path) -> tuple[Path, Sequence[Path]]:
    """Writes the copy. Returns it, and the oldest ones that are too many where the directory is ours."""
    is_ours = not claim_directories(home, (DIRECTORY,))
    root = samples_root(home)
    copies = sorted(root.glob(f"{SAMPLE}-*"), key=lambda path: path.lstat().st_mtime, reverse=True)
    tree = root / f"{SAMPLE}-{secrets.token_hex(4)}"
    for name, content in sample_files().items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tree, copies[MAX_COPIES - 1 :] if is_ours else ()
