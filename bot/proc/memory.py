"""How much memory processes use together, and who is to go first where the machine has none left (T28).
A limit per process bounds no sum, and it hinders programs that reserve far more than they ever use."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

_OWN = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB", re.MULTILINE)
_ALL = re.compile(rb"^VmRSS:\s+(\d+) kB", re.MULTILINE)
_SHARE = re.compile(rb"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB", re.MULTILINE)


def is_counted() -> bool:
    """Whether this system reports what a process uses; elsewhere no sum can be held to a limit."""
    return Path("/proc/self/status").exists()


def exceed(pids: Iterable[int], megabytes: int) -> bool:
    """Whether the processes hold more than that together.

    Pages of files do not count, since the kernel can drop them; what is reserved and never touched does not either.
    A page that several processes share, as after a fork, counts once."""
    limit = megabytes << 10
    held = {pid: _held(pid) for pid in pids}
    if sum(held.values()) <= limit:
        return False
    # the kernel walks all pages to divide them among those who share them: some 6 ms for each GiB
    return sum(min(full, _share(pid, full)) for pid, full in held.items()) > limit


def goes_first(pid: int) -> None:
    """Let the kernel kill the process, and those that it will start, before any other where memory runs out."""
    with contextlib.suppress(OSError):  # it has ended, or is another user's
        Path(f"/proc/{pid}/oom_score_adj").write_bytes(b"1000")


def _held(pid: int) -> int:
    """Kilobytes, with shared ones in full."""
    status = read(f"/proc/{pid}/status")
    return _sum(_OWN.findall(status) or _ALL.findall(status))


def _share(pid: int, otherwise: int) -> int:
    """Kilobytes, each shared page divided by the number of its sharers; `otherwise` where that is not known."""
    found = _SHARE.findall(read(f"/proc/{pid}/smaps_rollup"))
    return _sum(found) if found else otherwise


def _sum(numbers: Iterable[bytes]) -> int:
    return sum(map(int, numbers))


def read(path: str) -> bytes:
    """A file of /proc, or nothing where its process is gone or another user's."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        parts = []
        while part := os.read(fd, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(fd)
