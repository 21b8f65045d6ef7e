"""What is kept of a command's output: the first and the last bytes of a stream of any length.
A check may print gigabytes (T32); the bot must neither keep them nor lose the error at the end."""

from __future__ import annotations

from dataclasses import dataclass

_SLACK = 1 << 20


@dataclass(frozen=True, slots=True)
class OutputLimit:
    """How much of a stream is kept, and after how much in all the command is killed; bytes."""

    head: int = 1 << 20
    tail: int = 1 << 20
    total: int = 1 << 30


class Capture:
    """Takes chunks in constant memory; `total` counts all of them, `dropped` what fell between head and tail."""

    def __init__(self, limit: OutputLimit) -> None:
        self._limit = limit
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._limit.head - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > self._limit.tail + _SLACK:
            del self._tail[: len(self._tail) - self._limit.tail]

    @property
    def dropped(self) -> int:
        return max(0, self.total - len(self._head) - self._limit.tail)

    def content(self) -> bytes:
        """Everything, or head and tail with a line between them on how much is missing."""
        if not self.dropped:
            return bytes(self._head + self._tail)
        end = self._tail[len(self._tail) - self._limit.tail :]
        return bytes(self._head) + f"\n… [{self.dropped} bytes dropped] …\n".encode() + bytes(end)
