"""The failure vocabulary: four kinds of error, and nothing else is expected to be caught.

They are caught in two places alone, the workflow runner and the web edge (and `cli`, for exit codes); anything
that is none of these is a bug of ours, is recorded with its traceback and shown as such."""

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
    """The base of the four. `because` is why it was raised, for a message in the reader's language.

    `str(error)` is the same in English. An error that is raised below the catalog has the reason's kind there; the
    catalog's `error_text` words it."""

    def __init__(self, message: str = "", *, because: Reason | None = None) -> None:
        super().__init__(message or (because.kind if because else ""))
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


def shortage(number: int | None) -> Reason | None:
    """The reason for an errno(3) that means that this machine lacks something; None for any other number.

    EAGAIN means that only where a process or a thread was to be started."""
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
