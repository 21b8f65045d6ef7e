"""Captures a command's output: the first and the last bytes of a stream of any length.

A check may print gigabytes (T32); the bot must neither store them nor lose the error at the end."""

from __future__ import annotations

from dataclasses import dataclass

_SLACK = 1 << 20


@dataclass(frozen=True, slots=True)
class OutputLimit:
    """The bytes of a stream that are stored, and the total after which the command is killed."""

    head: int = 1 << 20
    tail: int = 1 << 20
    total: int = 1 << 30


class Capture:
    """Stores chunks in constant memory; `total` counts all bytes, `dropped` those between head and tail."""

    def __init__(self, limit: OutputLimit) -> None:
        self._limit = limit
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, chunk: bytes) -> None:
        self.total += len(chunk)
        space = self._limit.head - len(self._head)
        self._head += chunk[:space]
        self._tail += chunk[space:]
        if len(self._tail) > self._limit.tail + _SLACK:
            del self._tail[: len(self._tail) - self._limit.tail]

    @property
    def dropped(self) -> int:
        return max(0, self.total - len(self._head) - self._limit.tail)

    def content(self) -> bytes:
        """The whole stream, or head and tail with a line between them that counts the dropped bytes."""
        if not self.dropped:
            return bytes(self._head + self._tail)
        end = self._tail[len(self._tail) - self._limit.tail :]
        return bytes(self._head) + f"\n… [{self.dropped} bytes dropped] …\n".encode() + bytes(end)
