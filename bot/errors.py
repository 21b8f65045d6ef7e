"""The four kinds of errors. Two places catch them, the job runner and the web server (and `cli`, for exit codes).

Any other exception is a bug of Mendbot: it is logged with its traceback, and reported as a fault of Mendbot."""

from __future__ import annotations

import errno

from bot.model.reasons import Reason, make_reason, quoted

_SHORTAGES = {
    errno.ENOSPC: make_reason("shortage.disk"),
    errno.EDQUOT: make_reason("shortage.quota"),
    errno.EMFILE: make_reason("shortage.process_files"),
    errno.ENFILE: make_reason("shortage.machine_files"),
    errno.ENOMEM: make_reason("shortage.memory"),
    errno.EAGAIN: make_reason("shortage.processes"),
}


class MendbotError(Exception):
    """The base of the four. `because` is why it was raised, for a message in the reader's language; `str(error)` is the
    message in English."""

    def __init__(self, message: str = "", *, because: Reason | None = None) -> None:
        super().__init__(message)
        self.because = because

    def __str__(self) -> str:
        from bot.reports.locale.reasons import english  # the catalog, which lies above, reads errors

        return super().__str__() or english(self.because)


class UserError(MendbotError):
    """A request that cannot be fulfilled; the requester gets the reason (HTTP 4xx, exit code 2, a reply)."""


class ConfigError(UserError):
    """A wrong setting or repository configuration; the message names the key and the remedy."""


class Refused(UserError):
    """A change, path or name that is not allowed; `reason` is a stable code such as `outside_tree`."""

    def __init__(self, reason: str, message: str, *, because: Reason | None = None) -> None:
        super().__init__(message, because=because)
        self.reason = reason


class Transient(MendbotError):
    """May succeed later: network, 5xx, rate limits, a lock. `retry_after_s` is the wait that the server asks for."""

    def __init__(self, message: str = "", retry_after_s: float | None = None, *, because: Reason | None = None) -> None:
        super().__init__(message, because=because)
        self.retry_after_s = retry_after_s


class Shortage(Transient):
    """This machine lacks disk, memory, processes or open files; the message names the remedy."""


class Stale(MendbotError):
    """The work is outdated: the issue was closed, there is a newer head commit, the object is gone. It is dropped."""


def shortage(number: int | None) -> Reason | None:
    """The reason for an errno(3) that means a shortage; None for any other number.

    EAGAIN means a shortage only if a process or a thread was to be started."""
    return _SHORTAGES.get(number) if number is not None else None


def shortage_behind(error: BaseException) -> Reason | None:
    """The shortage that `error`, or an error that it comes from, was raised for; None where there is none."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        if (reason := _shortage_of(each)) is not None:
            return reason
        inner = each.exceptions if isinstance(each, BaseExceptionGroup) else ()
        pending += [each.__cause__, each.__context__, *inner]
    return None


def _shortage_of(error: BaseException) -> Reason | None:
    if isinstance(error, Shortage):
        return error.because or quoted(str(error))
    if isinstance(error, MemoryError):
        return _SHORTAGES[errno.ENOMEM]
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return _SHORTAGES[errno.EAGAIN]
    # a BlockingIOError of reading or writing has the number of a process that could not be started
    return shortage(error.errno) if isinstance(error, OSError) and not isinstance(error, BlockingIOError) else None
