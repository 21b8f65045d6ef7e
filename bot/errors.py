"""The failure vocabulary: four kinds of error, and nothing else is expected to be caught.

They are caught in two places alone, the workflow runner and the web edge (and `cli`, for exit codes); anything
that is none of these is a bug of ours, is recorded with its traceback and shown as such."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.model.reasons import Reason

_SHORTAGES = {
    errno.ENOSPC: "the disk is full: free some space",
    errno.EDQUOT: "the disk quota is used up: free some space",
    errno.EMFILE: "too many open files: raise the limit (ulimit -n)",
    errno.ENFILE: "too many open files on this machine: raise the limit (sysctl fs.file-max)",
    errno.ENOMEM: "the memory is used up: free some or add some",
    errno.EAGAIN: "too many processes: raise the limit (ulimit -u)",
}


class MendbotError(Exception):
    """The base of the four; `str(error)` is one sentence fit for the person who must act.

    `because` is the same as a value, where another language than English has it too."""

    def __init__(self, message: str = "", *, because: Reason | None = None) -> None:
        super().__init__(message)
        self.because = because


class UserError(MendbotError):
    """Somebody asked for what can't be done; say it where they asked (HTTP 4xx, exit 2, a reply)."""


class ConfigError(UserError):
    """The operator's or the repository's configuration is wrong; names the key and the fix."""


class Refused(UserError):
    """A change, path or name that the policy does not allow; `reason` is a stable code such as `outside_tree`."""

    def __init__(self, reason: str, message: str, *, because: Reason | None = None) -> None:
        super().__init__(message, because=because)
        self.reason = reason


class Transient(MendbotError):
    """It may work later: network, 5xx, rate limits, a lock, a full queue. `retry_after_s` where the other side said."""

    def __init__(self, message: str = "", retry_after_s: float | None = None, *, because: Reason | None = None) -> None:
        super().__init__(message, because=because)
        self.retry_after_s = retry_after_s


class Shortage(Transient):
    """This machine lacks something that people can give it: disk, memory, open files; the message names the remedy."""


class Stale(MendbotError):
    """The world moved on: the issue was closed, the head is newer, the object is gone. Drop the work quietly."""


def shortage(number: int | None) -> str | None:
    """What this machine lacks where the system gave this errno(3), and the remedy; None where it lacks nothing.

    EAGAIN means that only where a process or a thread was to be started."""
    return _SHORTAGES.get(number) if number is not None else None


def shortage_behind(error: BaseException) -> str | None:
    """What this machine lacks where that is why `error` was raised, it or what it came from; else None."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if (lacking := _lacking(one)) is not None:
            return lacking
        waiting += [one.__cause__, one.__context__, *(one.exceptions if isinstance(one, BaseExceptionGroup) else ())]
    return None


def _lacking(error: BaseException) -> str | None:
    if isinstance(error, Shortage):
        return str(error)
    if isinstance(error, MemoryError):
        return _SHORTAGES[errno.ENOMEM]
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return _SHORTAGES[errno.EAGAIN]
    # a BlockingIOError of reading or writing has the number of a process that could not be started
    return shortage(error.errno) if isinstance(error, OSError) and not isinstance(error, BlockingIOError) else None
