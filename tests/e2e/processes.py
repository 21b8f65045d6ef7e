"""What else runs on this machine, and waiting for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def arguments(*argv: str) -> int:
    """How many processes have exactly these arguments."""
    wanted = b"".join(part.encode() + b"\0" for part in argv)
    count = 0
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            count += line.read_bytes() == wanted
        except OSError:
            continue  # it has just ended
    return count


def wait_until(ready: Callable[[], bool], seconds: float) -> None:
    """Ask again and again, as nothing tells us."""
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.01)
