"""The memory that processes use together, and which of them the kernel kills first when it runs out (T28).

A limit per process does not limit the sum, and hinders programs that reserve more than they use."""

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
    """Whether this system reports the memory of a process; elsewhere the sum cannot be limited."""
    return Path("/proc/self/status").exists()


def exceeds(pids: Iterable[int], megabytes: int) -> bool:
    """Whether the processes together use more than that.

    Pages of files do not count, since the kernel can drop them, nor does reserved memory that was never touched. A page
    that several processes share, as after a fork, counts once."""
    limit = megabytes << 10
    used = {pid: _used(pid) for pid in pids}
    if sum(used.values()) <= limit:
        return False
    # the kernel reads all pages to divide the shared ones: about 6 ms for each GiB
    return sum(min(full, _share(pid, full)) for pid, full in used.items()) > limit


def kill_first(pid: int) -> None:
    """Makes the kernel kill the process and its children before any other when memory runs out."""
    with contextlib.suppress(OSError):  # it has ended, or is another user's
        Path(f"/proc/{pid}/oom_score_adj").write_bytes(b"1000")


def _used(pid: int) -> int:
    """The process's kilobytes, with shared pages in full."""
    status = read(f"/proc/{pid}/status")
    return _sum(_OWN.findall(status) or _ALL.findall(status))


def _share(pid: int, otherwise: int) -> int:
    """The process's kilobytes, each shared page divided by its users; `otherwise` if that is not known."""
    found = _SHARE.findall(read(f"/proc/{pid}/smaps_rollup"))
    return _sum(found) if found else otherwise


def _sum(numbers: Iterable[bytes]) -> int:
    return sum(map(int, numbers))


def read(path: str) -> bytes:
    """The content of a file of /proc; b"" if its process is gone or another user's."""
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
