"""Finding and killing every process that a command started, also those that tried to get away.
Killing the process group alone leaves what forked twice and called setsid (T26), so /proc is read as well."""

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
"""The variable by which a command's processes are known after they left its group, session and parent."""

_PROC = Path("/proc")
_PATIENCE_S = 2.0
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
    """A started process, its group and session, who carries its cookie or holds its pipes, and all their children.

    The first process must not be reaped by others: while it is a zombie its pid, and so its group's, is not reused."""

    def __init__(self, root: subprocess.Popen[bytes], cookie: str, pipes: frozenset[int]) -> None:
        self._root = root
        self._cookie = f"{COOKIE}={cookie}".encode()
        self._pipes = frozenset(f"pipe:[{inode}]" for inode in pipes)
        self._known: set[tuple[int, int]] = set()
        self._struck: list[int] = []
        self._strangers: frozenset[tuple[int, int]] = frozenset()

    def strike(self) -> bool:
        """Kill, once and without waiting, all that live now; whether there was any."""
        if not _PROC.is_dir():  # not Linux: the group is all we can know
            return self._strike_group()
        self._struck = self._living()
        for pid in self._struck:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        return bool(self._struck)

    def _strike_group(self) -> bool:
        if self._root.poll() is not None:
            return False
        os.killpg(self._root.pid, signal.SIGKILL)
        return True

    def exterminate(self) -> None:
        """After a first strike, go on until none is left; about two seconds at most, as one in the kernel's hands can
        take longer than anybody should wait."""
        deadline = time.monotonic() + _PATIENCE_S
        while self._struck and time.monotonic() < deadline:
            _await_deaths(self._struck, time.monotonic() + _PASS_S)
            self.strike()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._root.wait(max(0.0, deadline - time.monotonic()))

    def living(self) -> list[int]:
        """Who lives now, for whoever looks often: a stranger is asked only once who it is. Any thread may ask."""
        table = _processes(self._root.pid)
        mine = self._members(table, self._strangers)
        self._strangers = frozenset((pid, stat.born) for pid, stat in table.items() if pid not in mine)
        return [pid for pid in mine if not table[pid].dead]

    def _living(self) -> list[int]:
        table = _processes(self._root.pid)
        mine = self._members(table)
        self._known |= {(pid, table[pid].born) for pid in mine}
        for pid in mine:
            # as pid 1 of a container, or a subreaper, we inherit the orphans and must collect them
            if table[pid].dead and table[pid].parent == os.getpid() and pid != self._root.pid:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
        return [pid for pid in mine if not table[pid].dead]

    def _members(self, table: dict[int, _Stat], strangers: frozenset[tuple[int, int]] = frozenset()) -> set[int]:
        root = self._root.pid
        since = table[root].born if root in table else 0
        direct = {
            pid
            for pid, stat in table.items()
            if pid == root or root in (stat.group, stat.session) or (pid, stat.born) in self._known
        }
        mine = _with_children(table, direct)
        away = {
            pid
            for pid, stat in table.items()
            if pid not in mine
            and (pid, stat.born) not in strangers
            and stat.born >= since
            and not stat.dead
            and (self._marked(pid) or self._holds_pipe(pid, stat))
        }
        return _with_children(table, mine | away) - {os.getpid()}

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
    """These and all that descend from them."""
    found = fresh = pids
    while fresh:
        fresh = {pid for pid, stat in table.items() if stat.parent in fresh and pid not in found}
        found = found | fresh
    return found


_births: dict[tuple[int, int], int] = {}
"""When each process of the last look was born, by pid and the inode of its directory, which no later process has."""


def _processes(root: int) -> dict[int, _Stat]:
    """What runs on this machine, without what is known to be older than `root` and so cannot be its family: each look
    reads but what is new since the one before."""
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
    # a leader whose thread ended while others run shows Z too, and is very much alive
    dead = state in (b"Z", b"X") and int(rest[13]) <= 1
    return _Stat(dead, int(parent), int(group), int(session), int(rest[15]))


def _await_deaths(pids: list[int], deadline: float) -> None:
    """Return when all have ended, or at the deadline (monotonic seconds)."""
    watch = select.poll()
    waiting = 0
    with contextlib.ExitStack() as opened:
        for pid in pids:
            with contextlib.suppress(OSError, AttributeError):  # gone already, or no descriptors left
                pidfd = os.pidfd_open(pid)
                opened.callback(os.close, pidfd)
                watch.register(pidfd, select.POLLIN)
                waiting += 1
        while waiting > 0 and (left := deadline - time.monotonic()) > 0:
            for pidfd, _ in watch.poll(left * 1000):
                watch.unregister(pidfd)
                waiting -= 1
