"""Limits that the kernel enforces on a command: processor time, memory, and its end with its parent.

The bot's own git reads trees that untrusted code wrote, which can keep it busy forever or exhaust memory."""

from __future__ import annotations

import contextlib
import errno
import functools
import math
import os
import resource
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.proc import memory

_SYSTEM = "/usr/bin:/bin:/usr/sbin:/sbin"
_HELP_S = 10.0
_AFTERWARDS_S = 5


@dataclass(frozen=True, slots=True)
class Bounds:
    """`cpu_s` seconds of processor time and `memory` bytes of data for each process; None is no limit.

    `total_memory_mb` limits all processes together, which are killed above it. If the machine itself runs out of memory
    before, the kernel kills them before others.
    `with_parent`: the kernel kills the command when the thread that started it ends (Linux, PR_SET_PDEATHSIG)."""

    cpu_s: float | None = None
    memory: int | None = None
    total_memory_mb: int | None = None
    with_parent: bool = False


def started_as(argv: Sequence[str], env: Mapping[str, str], bounds: Bounds) -> list[str]:
    """The argv that ends with its parent, if `bounds` want it. Raises FileNotFoundError for a missing program."""
    if not bounds.with_parent or not argv or (setpriv := _setpriv()) is None:
        return list(argv)
    if shutil.which(argv[0], path=env.get("PATH", os.defpath)) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), argv[0])
    # by setpriv(1), because a preexec_fn may deadlock in a process with threads
    return [setpriv, "--pdeathsig", "KILL", "--", *argv]


def impose(pid: int, bounds: Bounds) -> None:
    """Sets the limits of a process that has just started; its children inherit them. Only Linux has prlimit(2)."""
    if bounds.total_memory_mb is not None:
        memory.kill_first(pid)
    limits = [
        (resource.RLIMIT_CPU, None if bounds.cpu_s is None else math.ceil(bounds.cpu_s), _AFTERWARDS_S),
        (resource.RLIMIT_DATA, bounds.memory, 0),
    ]
    for kind, limit, more in limits:
        if limit is None or not hasattr(resource, "prlimit"):
            continue
        ceiling = resource.getrlimit(kind)[1]  # an unprivileged process can't go above it
        hard = limit + more if ceiling == resource.RLIM_INFINITY else min(limit + more, ceiling)
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            resource.prlimit(pid, kind, (min(limit, hard), hard))


@functools.cache
def _setpriv() -> str | None:
    """The path of setpriv if it has the option: util-linux 2.33 and later, not busybox."""
    found = shutil.which("setpriv", path=_SYSTEM)
    if found is None:
        return None
    helped = subprocess.run([found, "--help"], env={}, capture_output=True, timeout=_HELP_S, check=False)
    return found if b"--pdeathsig" in helped.stdout + helped.stderr else None
