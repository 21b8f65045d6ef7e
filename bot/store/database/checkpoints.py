"""Moves the write-ahead log into the database file from a separate thread, so that no commit waits for it.

By default SQLite does this inside the commit that makes the log 1,000 pages long. Those commits caused the slowest 1%
of all acknowledgements (performance.md). A commit is durable once it is in the log (`synchronous=FULL`)."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

from bot.logs import get_logger

QUIET_S = 0.25
MAX_LOG_BYTES = 64 * 1024 * 1024
"""A log of this size is moved even while commits continue, since it would grow without a limit otherwise."""
_READERS_S = 0.2
_AGAIN_S = 2.0

log = get_logger()


class Checkpointer:
    """The checkpoint thread of one database. Call `committed` after each commit, and `close` at the end.

    The database must be in WAL mode, and no connection that writes may checkpoint itself (`wal_autocheckpoint=0`)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log_file = path.with_name(f"{path.name}-wal")
        self._last_commit = 0.0
        self._dirty = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="store-checkpoint", daemon=True)
        self._thread.start()

    def committed(self) -> None:
        """Schedule a checkpoint."""
        self._last_commit = time.monotonic()
        if not self._dirty.is_set():
            self._dirty.set()

    def close(self) -> None:
        """Stop the thread. SQLite checkpoints once more when the last connection closes."""
        self._stopping.set()
        self._dirty.set()
        self._thread.join(10)

    def _serve(self) -> None:
        while True:
            self._dirty.wait()
            self._await_quiet()
            if self._stopping.is_set():
                return
            self._dirty.clear()
            try:
                complete = self._checkpoint()
            except sqlite3.Error as error:  # nothing is lost: the log still has all commits
                log.warning("checkpoint_failed", error=str(error))
                complete = False
            if not complete:
                self._dirty.set()
                self._stopping.wait(_AGAIN_S)

    def _await_quiet(self) -> None:
        """Return after QUIET_S without a commit, or as soon as the log has MAX_LOG_BYTES, or when this is stopped."""
        while (wait_s := self._last_commit + QUIET_S - time.monotonic()) > 0 and self._log_bytes() < MAX_LOG_BYTES:
            if self._stopping.wait(wait_s):
                return

    def _log_bytes(self) -> int:
        try:
            return self._log_file.stat().st_size
        except FileNotFoundError:
            return 0

    def _checkpoint(self) -> bool:
        """Move the log; returns False if a part stays because a reader still uses an old snapshot."""
        connection = sqlite3.connect(self._path, isolation_level=None, timeout=_READERS_S)
        try:
            connection.execute("PRAGMA synchronous=FULL")
            # PASSIVE moves most of the log without blocking anybody; TRUNCATE blocks only for the rest, and empties it
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            blocked, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not blocked
        finally:
            connection.close()
