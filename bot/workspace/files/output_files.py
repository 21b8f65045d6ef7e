"""Finds the files that this process writes its own output to, as with `mendbot fix … > fix.log` in the tree itself.
No check and no agent wrote them, and restoring one would empty it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

_OUTPUT = (1, 2)


def output_files() -> Mapping[tuple[int, int], Path]:
    """The regular files that standard output and standard error are redirected to: device and inode, and the path."""
    found: dict[tuple[int, int], Path] = {}
    for descriptor in _OUTPUT:
        try:
            status = os.fstat(descriptor)
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
        except OSError:  # closed
            continue
        if stat.S_ISREG(status.st_mode):
            found[status.st_dev, status.st_ino] = path
    return found
