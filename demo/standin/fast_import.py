"""Files as git-fast-import(1) reads them."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

FilesIn = Mapping[str, str | bytes | None]


def gather(files: FilesIn | Path) -> list[tuple[str, str, bytes | None]]:
    """Path, mode and content of each file; a directory stands for all regular files and links in it."""
    if not isinstance(files, Path):
        return [(path, "100644", data.encode() if isinstance(data, str) else data) for path, data in files.items()]
    found: list[tuple[str, str, bytes | None]] = []
    for path in sorted(files.rglob("*")):
        name = path.relative_to(files).as_posix()
        if name.split("/")[0] == ".git":
            continue
        if path.is_symlink():
            found.append((name, "120000", os.fsencode(path.readlink())))
        elif path.is_file():
            mode = "100755" if path.stat().st_mode & stat.S_IXUSR else "100644"
            found.append((name, mode, path.read_bytes()))
    return found


def import_line(path: str, mode: str, data: bytes | None) -> bytes:
    """The command that gives a commit this file; None as content deletes it."""
    name = '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if data is None:
        return f"D {name}\n".encode(errors="surrogateescape")
    head = f"M {mode} inline {name}\ndata {len(data)}\n".encode(errors="surrogateescape")
    return head + data + b"\n"
