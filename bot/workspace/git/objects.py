"""Names of git objects, and git's bytes as text and back.
Names that other people chose go to git by stdin alone, so that none of them is ever an option (T17)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bot.workspace.git.command import git

_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KINDS = frozenset({"commit", "tree", "blob", "tag"})


def decode(data: bytes) -> str:
    """git's bytes as text, reversibly (PEP 383)."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes that `decode` read."""
    return text.encode("utf-8", "surrogateescape")


def is_id(name: str) -> bool:
    """Whether the name is an object's id, in full."""
    return _ID.fullmatch(name) is not None


def require_id(sha: str) -> None:
    """ValueError where it is no id: whoever asks has made a mistake."""
    if not is_id(sha):
        raise ValueError(f"{sha!r} is no commit's id")


def split_names(listed: bytes) -> tuple[bytes, ...]:
    """The names in what git lists with `-z`."""
    return tuple(name for name in listed.split(b"\0") if name)


async def commits(git_dir: Path, names: Sequence[str]) -> tuple[str | None, ...]:
    """The commits that `names` (refs or ids) name, in their order."""
    return await ids(git_dir, [f"{name}^{{commit}}" for name in names])


async def ids(git_dir: Path, expressions: Sequence[str]) -> tuple[str | None, ...]:
    """The objects that the expressions (gitrevisions(7)) name, in their order, by one process."""
    asked = "".join(f"{expression}\n" for expression in expressions).encode()
    answers = decode(await git("cat-file", "--batch-check=%(objecttype) %(objectname)", git_dir=git_dir, stdin=asked))
    found = [answer.partition(" ") for answer in answers.splitlines()]
    return tuple(name if kind in _KINDS else None for kind, _, name in found)
