"""Finds and kills every process that a command started, also those that left its process group.

A process that forked twice and called setsid survives the end of the group (T26), so /proc is read as well."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from bot.proc.memory import read

COOKIE = "MENDBOT_PROC"
"""The variable that identifies a command's processes after they left its group, session and parent."""

_PROC = Path("/proc")
_KILL_TIMEOUT_S = 2.0
_PASS_S = 0.1


@dataclass(frozen=True, slots=True)
class _Stat:
    """What /proc/PID/stat reports, proc(5); `born` in clock ticks since boot."""

    dead: bool
    parent: int
    group: int
    session: int
    born: int


class ProcessTree:
    """A started process, its group and session, the processes with its cookie or its pipes, and all their children.

    Nothing else may reap the first process: while it is a zombie, its pid and its group's are not reused."""

    def __init__(self, root: subprocess.Popen[bytes], cookie: str, pipes: frozenset[int]) -> None:
        self._root = root
        self._cookie = f"{COOKIE}={cookie}".encode()
        self._pipes = frozenset(f"pipe:[{inode}]" for inode in pipes)
        self._known: set[tuple[int, int]] = set()
        self._killed: list[int] = []
        self._foreign: frozenset[tuple[int, int]] = frozenset()

    def kill_living(self) -> bool:
        """Kills all living processes, once and without waiting; returns whether there was any."""
        if not _PROC.is_dir():  # not Linux: the group is all we can know
            return self._kill_group()
        self._killed = self._living()
        for pid in self._killed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        return bool(self._killed)

    def _kill_group(self) -> bool:
        if self._root.poll() is not None:
            return False
        os.killpg(self._root.pid, signal.SIGKILL)
        return True

    def kill_until_gone(self) -> None:
        """Kills again, after a first `kill_living`, until none is left; for two seconds at most.

        A process in an uninterruptible system call can take longer."""
        deadline = time.monotonic() + _KILL_TIMEOUT_S
        while self._killed and time.monotonic() < deadline:
            _wait_for_end(self._killed, time.monotonic() + _PASS_S)
            self.kill_living()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._root.wait(max(0.0, deadline - time.monotonic()))

    def living(self) -> list[int]:
        """The pids of the living processes; fast when called often, as a foreign process is examined once.

        Any thread may call it."""
        table = _processes(self._root.pid)
        members = self._members(table, self._foreign)
        self._foreign = frozenset((pid, stat.born) for pid, stat in table.items() if pid not in members)
        return [pid for pid in members if not table[pid].dead]

    def _living(self) -> list[int]:
        table = _processes(self._root.pid)
        members = self._members(table)
        self._known |= {(pid, table[pid].born) for pid in members}
        for pid in members:
            # as pid 1 of a container, or a subreaper, we inherit the orphans and must reap them
            if table[pid].dead and table[pid].parent == os.getpid() and pid != self._root.pid:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
        return [pid for pid in members if not table[pid].dead]

    def _members(self, table: dict[int, _Stat], foreign: frozenset[tuple[int, int]] = frozenset()) -> set[int]:
        root = self._root.pid
        since = table[root].born if root in table else 0
        direct = {
            pid
            for pid, stat in table.items()
            if pid == root or root in (stat.group, stat.session) or (pid, stat.born) in self._known
        }
        members = _with_children(table, direct)
        escaped = {
            pid
            for pid, stat in table.items()
            if pid not in members
            and (pid, stat.born) not in foreign
            and stat.born >= since
            and not stat.dead
            and (self._marked(pid) or self._holds_pipe(pid, stat))
        }
        return _with_children(table, members | escaped) - {os.getpid()}

    def _marked(self, pid: int) -> bool:
        return self._cookie in read(f"/proc/{pid}/environ").split(b"\0")

    def _holds_pipe(self, pid: int, stat: _Stat) -> bool:
        if stat.parent == os.getpid():  # another command of ours, perhaps not yet past exec, where it closes ours
            return False
        try:
            return any(str(fd.readlink()) in self._pipes for fd in Path(f"/proc/{pid}/fd").iterdir())
        except OSError:  # gone, or another user's
            return False


def _with_children(table: dict[int, _Stat], pids: set[int]) -> set[int]:
    """These processes and all their descendants."""
    found = fresh = pids
    while fresh:
        fresh = {pid for pid, stat in table.items() if stat.parent in fresh and pid not in found}
        found = found | fresh
    return found


_births: dict[tuple[int, int], int] = {}
"""When each process of the last reading started, by pid and the inode of its directory, which is unique."""


def _processes(root: int) -> dict[int, _Stat]:
    """The processes of this machine, without those older than `root`, which it cannot have started.

    Each reading examines only the processes that are new since the last one."""
    global _births
    table: dict[int, _Stat] = {}
    if not _PROC.is_dir():
        return table
    own = _stat(root)
    births: dict[tuple[int, int], int] = {}
    with os.scandir(_PROC) as entries:
        names = [(int(entry.name), entry.inode()) for entry in entries if entry.name.isdigit()]
    for name in names:
        if own is not None and (born := _births.get(name, own.born)) < own.born:
            births[name] = born
        elif stat := _stat(name[0]):
            table[name[0]] = stat
            if name[1] > 1:  # 1 stands for an inode that the kernel does not know
                births[name] = stat.born
    _births = births
    return table


def _stat(pid: int) -> _Stat | None:
    data = read(f"/proc/{pid}/stat")
    if not data:
        return None
    state, parent, group, session, *rest = data[data.rindex(b")") + 2 :].split()
    # a leader whose thread ended while others run shows Z too, and is alive
    dead = state in (b"Z", b"X") and int(rest[13]) <= 1
    return _Stat(dead, int(parent), int(group), int(session), int(rest[15]))


def _wait_for_end(pids: list[int], deadline: float) -> None:
    """Returns when all have ended, or at the deadline (monotonic seconds)."""
    watch = select.poll()
    waiting = 0
    with contextlib.ExitStack() as opened:
        for pid in pids:
            with contextlib.suppress(OSError, AttributeError):  # gone already, or no descriptors left
                pidfd = os.pidfd_open(pid)
                opened.callback(os.close, pidfd)
                watch.register(pidfd, select.POLLIN)
                waiting += 1
        while waiting > 0 and (remaining := deadline - time.monotonic()) > 0:
            for pidfd, _ in watch.poll(remaining * 1000):
                watch.unregister(pidfd)
                waiting -= 1
