"""A started process on the running event loop: reads and feeds its pipes, waits for its end, kills its process tree.

It works on any loop with `add_reader` and in any thread, without a child watcher or a signal handler."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import threading
from collections.abc import Callable
from typing import IO, Literal

from bot.proc import memory
from bot.proc.capture import Capture, OutputLimit
from bot.proc.process_tree import ProcessTree

_CHUNK = 1 << 16
_DRAIN_S = 2.0
_MEMORY_POLL_S = 0.25
_MEMORY_RECHECK_S = 0.05
_MAX_POLL_SHARE = 0.1
"""The largest share of the time that measuring memory may take."""

Cause = Literal["exited", "timed_out", "overflowed", "over_memory"]


class Child:
    """Serves one `Popen` whose pipes are unbuffered; call `serve`, `ended`, `kill`, `drain`, `close` in this order."""

    def __init__(self, popen: subprocess.Popen[bytes], cookie: str, limit: OutputLimit) -> None:
        self._loop = asyncio.get_running_loop()
        self._popen = popen
        self._limit = limit
        self._cause: asyncio.Future[Cause] = self._loop.create_future()
        self._eof: asyncio.Future[None] = self._loop.create_future()
        self._streams = [stream for stream in (popen.stdout, popen.stderr) if stream is not None]
        self._pidfd: int | None = None
        self._gone = False
        self._tree = ProcessTree(popen, cookie, frozenset(os.fstat(s.fileno()).st_ino for s in self._streams))
        self._oom_marked: frozenset[int] = frozenset()
        self.output, self.errors = Capture(limit), Capture(limit)

    def serve(self, stdin: bytes | None) -> None:
        """Begins to read, to feed `stdin`, and to wait for the end."""
        for stream, capture in ((self._popen.stdout, self.output), (self._popen.stderr, self.errors)):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._loop.add_reader(stream.fileno(), self._readable, stream, capture)
        if self._popen.stdin is not None:
            os.set_blocking(self._popen.stdin.fileno(), False)
            self._feed(self._popen.stdin, memoryview(stdin or b""))
        try:
            self._pidfd = os.pidfd_open(self._popen.pid)
        except (AttributeError, OSError):  # not Linux, or no descriptor left
            _in_thread(self._loop, self._popen.wait).add_done_callback(lambda _: self._end("exited"))
        else:
            self._loop.add_reader(self._pidfd, self._exited, self._pidfd)

    async def ended(self, timeout_s: float, memory_mb: int | None = None) -> Cause:
        """Waits for the end or a limit and returns the cause; the process itself may still live.

        `memory_mb` limits the memory of its whole process tree."""
        timer = self._loop.call_later(timeout_s, self._end, "timed_out")
        watch = None if memory_mb is None else self._loop.create_task(self._watch_memory(memory_mb))
        try:
            return await self._cause
        finally:
            timer.cancel()
            if watch is not None:
                watch.cancel()

    async def _watch_memory(self, megabytes: int) -> None:
        """Measures the memory repeatedly, never on the event loop, until it is above the limit.

        Two measurements must be above it: a child between vfork and exec shows its parent's memory as its own."""
        pause, was_over = _MEMORY_POLL_S, False
        while True:
            await asyncio.sleep(pause)
            began = self._loop.time()
            over = False
            with contextlib.suppress(OSError, RuntimeError):  # no free descriptor or thread: measure later
                over = await self._exceeds(megabytes)
            if over and was_over:
                self._end("over_memory")
                return
            took = self._loop.time() - began
            pause, was_over = _MEMORY_RECHECK_S if over else min(1.0, max(_MEMORY_POLL_S, took / _MAX_POLL_SHARE)), over

    async def _exceeds(self, megabytes: int) -> bool:
        found: list[bool] = []

        def look() -> None:
            pids = self._tree.living()
            for pid in frozenset(pids) - self._oom_marked:
                memory.kill_first(pid)  # it may have started before its parent was marked
            self._oom_marked = frozenset(pids)
            found.append(memory.exceeds(pids, megabytes))

        await _in_thread(self._loop, look)
        return found[0]

    async def kill(self) -> None:
        """Kills the whole process tree and collects the exit code; a cancellation takes effect after that."""
        cancelled = False
        if not self._gone and self._tree.kill_living():
            # all known processes are killed; waiting for their end and looking again must not block the loop
            killed = _in_thread(self._loop, self._tree.kill_until_gone)
            while not killed.done():
                try:
                    await asyncio.shield(killed)
                except asyncio.CancelledError:
                    cancelled = True
            killed.result()
        self._gone = True
        self._popen.poll()
        if cancelled:
            raise asyncio.CancelledError

    async def drain(self) -> None:
        """Reads the rest of the pipes, for a limited time, as an escaped process may hold them open."""
        await asyncio.wait({self._eof}, timeout=_DRAIN_S)

    def close(self) -> None:
        self._stop_feeding()
        for stream in tuple(self._streams):
            self._hang_up(stream)
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None

    def _readable(self, stream: IO[bytes], capture: Capture) -> None:
        try:
            chunk = os.read(stream.fileno(), _CHUNK)
        except BlockingIOError:
            return
        capture.feed(chunk)
        if not chunk:
            self._hang_up(stream)
        elif self.output.total + self.errors.total > self._limit.total:
            self._end("overflowed")
            for each in self._streams:
                self._loop.remove_reader(each.fileno())
            self._finish()

    def _hang_up(self, stream: IO[bytes]) -> None:
        self._loop.remove_reader(stream.fileno())
        stream.close()
        self._streams.remove(stream)
        if not self._streams:
            self._finish()

    def _finish(self) -> None:
        if not self._eof.done():
            self._eof.set_result(None)

    def _feed(self, stream: IO[bytes], rest: memoryview) -> None:
        try:
            rest = rest[os.write(stream.fileno(), rest[:_CHUNK]) :] if rest else rest
        except BlockingIOError:
            pass  # the pipe is full: again when there is space
        except BrokenPipeError:
            rest = rest[:0]  # the process has closed its stdin
        if rest:
            self._loop.add_writer(stream.fileno(), self._feed, stream, rest)
        else:
            self._stop_feeding()

    def _stop_feeding(self) -> None:
        stream = self._popen.stdin
        if stream is not None and not stream.closed:
            self._loop.remove_writer(stream.fileno())
            stream.close()

    def _exited(self, pidfd: int) -> None:
        self._loop.remove_reader(pidfd)
        self._end("exited")

    def _end(self, cause: Cause) -> None:
        if not self._cause.done():
            self._cause.set_result(cause)


def _in_thread(loop: asyncio.AbstractEventLoop, work: Callable[[], object]) -> asyncio.Future[None]:
    """Runs `work` in a thread of its own, as the loop's shared threads may all be busy."""
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(None)

    def body() -> None:
        error: BaseException | None = None
        try:
            work()
        except BaseException as caught:  # handed on to whoever awaits
            error = caught
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for it any more
            loop.call_soon_threadsafe(settle, error)

    threading.Thread(target=body, name="mendbot-proc", daemon=True).start()
    return done
